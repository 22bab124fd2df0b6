import {mayUse} from '../../backends/select.js';
import {createError, type RuntimeCliError} from '../../errors/index.js';
import type {Environment} from '../../http/types.js';
import type {Output} from '../output/output.js';
import {definitions, variableOf, type SettingKey} from '../../settings/definitions.js';
import {flagAndVariable} from './settings.js';
import {isVariableEmpty} from './resolve-settings.js';

/** Whether a setting has a value, from any source. */
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

/** The settings that `auth:login` can store for an Api origin. */
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

/** The state of the Api connection. */
interface ApiState {
  /** The requested backend. */
  readonly preference: string;
  readonly isSet: IsSet;
  readonly env: Environment;
}

/**
 * The error for a partial Api connection: some settings are given, or their variables are set but empty, while others
 * are missing. Undefined if it is complete, unset or not requested. A pipeline whose secrets are missing must not push
 * to the other service.
 */
export function incompleteApi({preference, isSet, env}: ApiState): RuntimeCliError | undefined {
  const missing = missingApiSettings(isSet);
  const empty = apiSettings.filter((key) => !isSet(key) && isVariableEmpty(key, env)).map(variableOf);
  const isUnset = isApiUnset(isSet) && empty.length === 0;
  if (!mayUse(preference, 'api') || isUnset || missing.length === 0) return undefined;
  const given = apiSettings.filter(isSet).map(label);
  const found = [
    ...(given.length === 0 ? [] : [`given: ${given.join(', ')}`]),
    ...(empty.length === 0 ? [] : [`set but empty: ${empty.join(', ')}`]),
  ];
  return createError(
    'ERR_CREDENTIALS_MISSING',
    `The Api connection is incomplete: missing ${missing.map(label).join(', ')} (${found.join('; ')}).`,
    {
      suggestions: [
        ...(empty.length === 0
          ? []
          : [`CI systems leave a variable empty if its secret is missing: set or unset ${empty.join(', ')}.`]),
        ...missing.map((key) => `${label(key)}: ${sourcesOf(key)}.`),
        ...(preference === 'auto' ? ['Pass --runtime-backend legacy to use the legacy backend instead.'] : []),
      ],
      details: {backend: 'api', missing: missing.map(flagAndVariable)},
    },
  );
}

/** Warns about what `incompleteApi` would refuse, for commands that only show settings. */
export function warnOfIncompleteApi(output: Pick<Output, 'warn'>, state: ApiState): void {
  const error = incompleteApi(state);
  if (error !== undefined)
    output.warn([`Pushes from here will fail. ${error.message}`, ...error.suggestions].join(' '));
}

function label(key: SettingKey): string {
  return definitions[key].label;
}

/** The sources of a setting: `--client-id, MYCLI_CLIENT_ID, api.clientId in the config file, or mycli auth:login`. */
function sourcesOf(key: SettingKey): string {
  const {flag, config} = definitions[key];
  const sources = [
    ...(flag === undefined ? [] : [`--${flag.name}`, String(variableOf(key))]),
    ...(config === undefined ? [] : [`${config} in the configuration file`]),
    ...(storable.has(key) ? ['credentials stored with mycli auth:login --api-origin URL'] : []),
  ];
  return new Intl.ListFormat('en', {type: 'disjunction'}).format(sources);
}
