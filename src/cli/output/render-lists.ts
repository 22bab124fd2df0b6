import type {
  ListBundlesResult,
  ListDeploymentsResult,
  ListedDeployment,
  PruneBundlesResult,
} from '../../operations/bundle-options.js';
import type {ProjectStatus, TargetStatus} from '../../operations/targets/options.js';
import prettyBytes from 'pretty-bytes';
import type {BundleItem, DeploymentItem} from '../../backends/contract.js';
import type {ArchiveInspection} from '../../bundle/contents/bundle-contents.js';
import {categoryWords} from '../../bundle/index.js';
import type {DeploymentEntry, DeploymentHistory, Documents, StatusOfTargets} from './documents.js';
import type {BackendFailure} from '../../backends/registry.js';
import {describeSafety, type SafetyMode} from '../../operations/guard/safety.js';
import {describeCheck, type BackendDescription, type CredentialCheck} from '../setup/check-credentials.js';
import {definitions} from '../../settings/definitions.js';
import type {ExplainedSettings} from '../settings/load-settings.js';
import {missingSetting, sourceName, type ExplainedSetting, type OverriddenValue} from '../settings/settings.js';
import type {Output} from './output.js';
import {describeAge} from '../../text/age.js';
import {textOrJson} from '../../text/json.js';
import {count, oneLine} from '../../text/sentence.js';
import {chooseColumns, printList, printTable, type Column, type ListOptions, type ShownList} from './table.js';

export const bundleColumns: readonly Column<BundleItem>[] = [
  {name: 'bundleId', value: ({bundleId}) => bundleId},
  {name: 'status', value: ({status}) => status},
  {name: 'createdAt', value: ({createdAt}) => createdAt, time: true},
  {name: 'createdBy', value: ({createdBy}) => createdBy},
  {name: 'inUseBy', value: ({inUseBy}) => inUseBy?.join(', ')},
  {name: 'message', value: ({message}) => message, flexible: true},
];

const historyColumns: readonly Column<ListedDeployment>[] = [
  {name: 'bundleId', value: ({bundleId}) => bundleId},
  {name: 'status', value: ({status, live}) => (live ? `${status}, live` : status)},
  {name: 'createdAt', value: ({createdAt}) => createdAt, time: true},
  {name: 'createdBy', value: ({createdBy}) => createdBy},
  {name: 'deploymentId', value: ({deployment}) => deployment.deploymentId, extra: true},
  {name: 'message', value: ({message}) => message, flexible: true},
];

export function renderBundles(result: ListBundlesResult, shown: ShownList, output: Output): ListBundlesResult {
  const {bundles, total, projectSlug} = result;
  const nothing = `The project ${projectSlug} has no bundles, or does not exist.`;
  printPage(bundles, bundleColumns, {...shown, total, nothing}, output);
  return result;
}

/** A deployment for programs: its reference is only useful to its backend. */
function deploymentEntry({deployment, ...item}: DeploymentItem): DeploymentEntry {
  return {deploymentId: deployment.deploymentId, ...item};
}

export function renderHistory(result: ListDeploymentsResult, shown: ShownList, output: Output): DeploymentHistory {
  const {deployments, total} = result;
  const nothing = `Nothing has been deployed to ${result.targetSlug}.`;
  printPage(deployments, historyColumns, {...shown, total, nothing}, output);
  return {...result, deployments: deployments.map((item) => ({...deploymentEntry(item), live: item.live}))};
}

export function renderPruned(result: PruneBundlesResult, output: Output): PruneBundlesResult {
  const {dryRun, found, deleted, kept, projectSlug} = result;
  if (found.length === 0) {
    output.outcome(`Nothing to prune in ${projectSlug}: ${count(kept, 'bundle')} kept.`);
    if (kept > 0)
      output.hint(
        'A bundle stays if a target runs it or may roll back to it, or --keep, --older-than or --match spares it.',
      );
  } else if (dryRun) {
    printTable(found, bundleColumns, output);
    output.outcome(`Would delete ${count(found.length, 'bundle')} of ${projectSlug} and keep ${String(kept)}.`);
  } else {
    const spared = found.length - deleted.length;
    output.outcome(`Deleted ${count(deleted.length, 'bundle')} of ${projectSlug} and kept ${String(kept + spared)}.`);
  }
  return result;
}

function printPage<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  {total = 0, nothing, ...list}: ListOptions & {readonly total: number | undefined},
  output: Output,
): void {
  const rest = `${String(rows.length)} of ${String(total)}. Pass --offset to skip the newest, or --all to show all.`;
  if (rows.length > 0 && rows.length < total) output.info(`Showing ${rest}`);
  const pastEnd = `--offset is past the end: there are ${String(total)}.`;
  printList(rows, columns, {...list, nothing: total > 0 ? pastEnd : nothing}, output);
}

type ShownFile = Pick<ArchiveInspection['files'][number], 'path' | 'size' | 'category' | 'linkTarget'>;

export const fileColumns: readonly Column<ShownFile>[] = [
  {name: 'category', value: ({category}) => category && categoryWords[category]},
  {name: 'size', value: ({size}) => prettyBytes(size)},
  {
    name: 'path',
    value: ({path, linkTarget}) => (linkTarget === undefined ? path : `${path} -> ${linkTarget}`),
    flexible: true,
  },
];

export function renderInspection(
  inspection: ArchiveInspection,
  names: string | undefined,
  output: Output,
): ArchiveInspection {
  const {format, size, sha256, rootDir, configPath, config, matches, files, problems} = inspection;
  const facts = {format, size: prettyBytes(size), sha256, root: rootDir, config: configPath};
  if (config === undefined)
    output.info('A v1 archive does not say which of its files are server-only or shared. One pushed with --v2 does.');
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined) output.result(`${name.padEnd(9)}${value}`);
  }
  const lines = config === undefined ? [] : JSON.stringify(config, undefined, 2).split('\n');
  for (const line of lines) output.result(`  ${line}`);
  for (const setting of ['ssrOnly', 'ssrShared'] as const) {
    for (const {pattern, files: matched} of matches[setting]) {
      output.outcome(`${setting.padEnd(9)}  ${pattern}  (${count(matched, 'file')})`);
    }
  }
  output.result('');
  printTable(files, chooseColumns(fileColumns, names), output);
  for (const problem of problems) output.outcome(`Problem: ${problem}`);
  return inspection;
}

export function renderStatus(status: ProjectStatus, output: Output): StatusOfTargets {
  const {targets} = status;
  // Users read terminals; programs that read pipes need exact times.
  const when = (time: string) => (output.width === Number.POSITIVE_INFINITY ? time : describeAge(time));
  for (const [index, target] of targets.entries()) {
    if (index > 0) output.result('');
    output.result(target.targetSlug);
    for (const line of targetLines(target, when)) output.outcome(`  ${line}`, '    ');
  }
  return {
    ...status,
    targets: targets.map(({live, underway, failed, ...target}) => ({
      ...target,
      live: live && deploymentEntry(live),
      underway: underway && deploymentEntry(underway),
      failed: failed && deploymentEntry(failed),
    })),
  };
}

function targetLines(
  {state, url, live, underway, failed}: TargetStatus,
  when: (time: string) => string,
): readonly string[] {
  const lines = [live === undefined ? 'Nothing is live.' : `Live: ${describe(live, when)}`];
  if (state !== undefined && state !== 'ready') lines.unshift(`State: ${state}`);
  if (live !== undefined && url !== undefined) lines.push(`URL: ${url}`);
  if (underway) lines.push(`Deploying: ${describe(underway, when)} (${underway.status.replace('_', ' ')})`);
  if (failed === undefined) return lines;
  lines.push(`Failed: ${describe(failed, when)}`);
  if (failed.description !== undefined) lines.push(`  ${oneLine(failed.description)}`);
  if (failed.logUrl !== undefined) lines.push(`  Log: ${failed.logUrl}`);
  return lines;
}

/** `bundle 3 "main: 1a2b3c", 2 hours ago, by jane` */
function describe({bundleId, message, createdAt, createdBy}: DeploymentItem, when: (time: string) => string): string {
  const bundle = bundleId === undefined ? 'an unknown bundle' : `bundle ${String(bundleId)}`;
  const titled = message === undefined ? bundle : `${bundle} "${oneLine(message)}"`;
  return [titled, createdAt && when(createdAt), createdBy && `by ${createdBy}`].filter(Boolean).join(', ');
}

/** The columns of `config:show`, which names the configuration file as seen from `cwd`. */
function settingColumns(cwd: string): readonly Column<ExplainedSetting>[] {
  const showOverridden = ({value, source, problem}: OverriddenValue, used: unknown) => {
    const shown = problem === undefined ? textOrJson(value) : 'invalid';
    return shown === textOrJson(used)
      ? `also ${sourceName(source, cwd)}`
      : `overrode ${shown} (${sourceName(source, cwd)})`;
  };
  return [
    {name: 'name', value: ({name}) => definitions[name].config ?? name},
    {name: 'value', value: ({value}) => textOrJson(value), flexible: true},
    {
      name: 'source',
      value: ({source, value, overrode}) =>
        [sourceName(source, cwd), ...overrode.map((other) => showOverridden(other, value))].join('; '),
      flexible: true,
    },
    {name: 'flag', value: ({name}) => definitions[name].flag && `--${definitions[name].flag.name}`, extra: true},
  ];
}

export function renderSettings(
  {configFile, wanted, settings}: ExplainedSettings,
  safety: readonly SafetyMode[],
  {cwd, names}: {readonly cwd: string; readonly names: string | undefined},
  output: Output,
): Documents['config:show'] {
  output.info(configFile === undefined ? 'No configuration file found.' : `Configuration file: ${configFile}`);
  for (const mode of safety) output.info(describeSafety(mode));
  const columns = chooseColumns(settingColumns(cwd), names);
  if (settings.length > 0) printTable(settings, columns, output);
  else
    for (const {message, suggestions} of wanted.map((key) => missingSetting(key)))
      output.outcome([message, ...suggestions].join(' '));
  return {configFile: configFile ?? null, ...(safety.length > 0 && {safety}), settings};
}

/** `configured`; `accepted, user ann`; `refused, client ci: The secret has expired.` */
function describeConfigured(check: CredentialCheck = {status: 'unknown'}): string {
  return [describeCheck(check) || 'configured', check.reason].filter(Boolean).join(': ');
}

export function renderBackends(
  backends: readonly BackendDescription[],
  failures: readonly BackendFailure[],
  output: Output,
): Documents['backend:list'] {
  for (const {name, plugin, version = '', summary, formats, capabilities, configured, missing, check} of backends) {
    const state = configured ? describeConfigured(check) : `missing: ${missing.join(', ')}`;
    output.outcome(`${name} (${plugin} ${version}): ${summary}`);
    for (const line of [`formats: ${formats.join(', ')}`, `capabilities: ${capabilities.join(', ') || 'none'}`, state])
      output.outcome(`  ${line}`, '    ');
  }
  return {backends, failures};
}
