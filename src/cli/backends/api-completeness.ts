import {createError, type RuntimeCliError} from '../../errors/index.js';
import type {Output} from '../output/output.js';
import {definitions, variableOf, type SettingKey} from '../settings/definitions.js';
import {flagAndVariable} from '../settings/describe-settings.js';

/** Which settings have a value, from whatever source. */
type IsSet = (key: SettingKey) => boolean;

const apiSettings: readonly SettingKey[] = [
  'apiOrigin',
  'organizationId',
  'tokenUrl',
  'clientId',
  'clientSecret',
  'scopes',
  'apiToken',
];

/** What `auth:login` can store for an Api origin. */
const storable: ReadonlySet<SettingKey> = new Set(['tokenUrl', 'clientId', 'clientSecret', 'apiToken']);

/** Whether nothing at all is set for the Api backend. */
export function isApiUnset(isSet: IsSet): boolean {
  return !apiSettings.some(isSet);
}

/** The settings that a connection to the Api backend still needs. */
export function missingApiSettings(isSet: IsSet): readonly SettingKey[] {
  // A ready-made token needs no token endpoint.
  const credentials: readonly SettingKey[] = isSet('apiToken') ? [] : ['tokenUrl', 'clientId', 'clientSecret'];
  return (['apiOrigin', 'organizationId', ...credentials] as const).filter((key) => !isSet(key));
}

/**
 * The error of an Api connection of which some settings are given and others are missing; nothing when it is complete, unset
 * or not wanted. A pipeline whose secret is missing must not push to the other service.
 * @param preference the backend that is wanted
 */
export function incompleteApi(preference: string, isSet: IsSet): RuntimeCliError | undefined {
  const missing = missingApiSettings(isSet);
  if (!['auto', 'api'].includes(preference) || isApiUnset(isSet) || missing.length === 0) return undefined;
  const given = apiSettings.filter(isSet).map(label).join(', ');
  return createError(
    'ERR_CREDENTIALS_MISSING',
    `The Api connection is incomplete: missing ${missing.map(label).join(', ')} (given: ${given}).`,
    {
      suggestions: [
        ...missing.map((key) => `${label(key)}: ${sourcesOf(key)}.`),
        ...(preference === 'auto' ? ['To use the legacy backend instead, pass --runtime-backend legacy.'] : []),
      ],
      details: {backend: 'api', missing: missing.map(flagAndVariable)},
    },
  );
}

/** Warns of what `incompleteApi` would refuse, for commands that only show how things are set. */
export function warnOfIncompleteApi(output: Pick<Output, 'warn'>, preference: string, isSet: IsSet): void {
  const error = incompleteApi(preference, isSet);
  if (error !== undefined)
    output.warn([`Pushes from here will fail. ${error.message}`, ...error.suggestions].join(' '));
}

function label(key: SettingKey): string {
  return definitions[key].label;
}

/** Where a setting can come from: `--client-id, MYCLI_CLIENT_ID, api.clientId in the config file, or mycli auth:login`. */
function sourcesOf(key: SettingKey): string {
  const {flag, config} = definitions[key];
  const sources = [
    ...(flag === undefined ? [] : [`--${flag.name}`, String(variableOf(key))]),
    ...(config === undefined ? [] : [`${config} in the config file`]),
    ...(storable.has(key) ? ['credentials stored with mycli auth:login --api-origin URL'] : []),
  ];
  return new Intl.ListFormat('en', {type: 'disjunction'}).format(sources);
}
