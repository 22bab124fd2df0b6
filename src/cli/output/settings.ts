import type {BackendFailure} from '../../backends/registry.js';
import {describeSafety, type SafetyMode} from '../../operations/guard/safety.js';
import type {BackendDescription, CredentialCheck} from '../setup/check-credentials.js';
import type {ConfigShowDocument, BackendListDocument} from './documents.js';
import type {JsonDocument, Output} from './output.js';
import {definitions} from '../../settings/definitions.js';
import type {ExplainedSettings} from '../settings/load-settings.js';
import {describeSource, type ExplainedSetting, type OverriddenValue} from '../settings/settings.js';
import {printTable, type Column} from './table.js';

/** The columns of `config:show`, which names the configuration file as seen from `cwd`. */
export function settingColumns(cwd: string): readonly Column<ExplainedSetting>[] {
  const showOverridden = ({value, source, problem}: OverriddenValue) =>
    `${problem === undefined ? showValue(value) : 'invalid'} (${describeSource(source, cwd)})`;
  return [
    {name: 'setting', value: ({name}) => definitions[name].config ?? name},
    {name: 'value', value: ({value}) => showValue(value), flexible: 'wrap'},
    {name: 'source', value: ({source}) => describeSource(source, cwd)},
    {name: 'overrode', value: ({overrode}) => overrode.map(showOverridden).join('; '), flexible: 'wrap'},
    {name: 'flag', value: ({name}) => flagOf(name), extra: true},
  ];
}

export function renderSettings(
  {configFile, settings}: ExplainedSettings,
  safety: readonly SafetyMode[],
  columns: readonly Column<ExplainedSetting>[],
  output: Output,
): JsonDocument {
  output.info(configFile === undefined ? 'No configuration file found.' : `Configuration file: ${configFile}`);
  for (const mode of safety) output.info(describeSafety(mode));
  printTable(settings, columns, output);
  return {
    configFile: configFile ?? null,
    ...(safety.length > 0 && {safety}),
    settings,
  } satisfies ConfigShowDocument;
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function flagOf(name: ExplainedSetting['name']): string | undefined {
  const {flag} = definitions[name];
  return flag === undefined ? undefined : `--${flag.name}`;
}

const backendColumns: readonly Column<BackendDescription>[] = [
  {name: 'name', value: ({name}) => name},
  {name: 'plugin', value: ({plugin, version = ''}) => `${plugin} ${version}`},
  {name: 'summary', value: ({summary}) => summary, flexible: 'wrap'},
  {name: 'formats', value: ({formats}) => formats.join(', ')},
  {name: 'capabilities', value: ({capabilities}) => capabilities.join(', '), flexible: 'wrap'},
  {
    name: 'state',
    value: ({configured, missing, check}) => (configured ? describeCheck(check) : `missing ${missing.join(', ')}`),
    flexible: 'wrap',
  },
];

/** `accepted, ann`; `refused: The key has expired.` */
function describeCheck({status, user, clientId, reason}: Partial<CredentialCheck> = {}): string {
  if (status === 'accepted') return [status, user ?? clientId].filter(Boolean).join(', ');
  return status === 'refused' ? `refused: ${String(reason)}` : ['configured', reason].filter(Boolean).join(': ');
}

export function renderBackends(
  backends: readonly BackendDescription[],
  failures: readonly BackendFailure[],
  output: Output,
): JsonDocument {
  printTable(backends, backendColumns, output);
  return {backends, failures} satisfies BackendListDocument;
}
