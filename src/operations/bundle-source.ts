import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {BundleSource, ComparedBundle, DiffBundlesOptions, ReadSourceOptions} from './bundle-options.js';
import type {BackendCapability} from '../backends/contract.js';
import {rejectProblems, slugProblems} from '../settings/definitions.js';
import type {BundleFormat} from '../bundle/types.js';
import {createError, type Suggestion} from '../errors/index.js';
import {readArchiveContents, readFolderContents, type BundleContents} from '../bundle/contents/bundle-contents.js';
import {describeBundle, meantTarget, readDownloaded} from './download-bundle.js';
import {namingCapabilities, targetIn, verifyId} from './list-bundles.js';
import {chooseCapable, type ChosenBackend} from './choose-backend.js';
import type {OpenBackend} from './open-backend.js';
import {planningHost, type RunHost} from './host.js';

/** What a text for users names, as `bundleSource` of the library says. */
export async function bundleSourceIn(text: string, cwd: string): Promise<BundleSource> {
  const targetSlug = targetIn(text);
  if (targetSlug !== undefined) return {kind: 'running', targetSlug};
  const [, bundleId] = /^bundle:(.+)$/s.exec(text) ?? [];
  if (bundleId !== undefined) return {kind: 'bundle', bundleId};
  const path = resolve(cwd, text);
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory()) return {kind: 'folder', path: text};
  if (stats?.isFile()) return {kind: 'archive', path: text};
  if (stats === undefined && !/[/\\.]/.test(text)) return {kind: 'bundle', bundleId: text};
  throw createError('ERR_ARCHIVE_INVALID', `${text} ${stats ? 'is neither a file nor a folder' : 'does not exist'}.`, {
    suggestions: ['Pass an archive, a build folder, the ID of an uploaded bundle, latest or running:TARGET.'],
  });
}

export function isRemote({kind}: BundleSource): boolean {
  return kind === 'bundle' || kind === 'running';
}

/** A source in few words: `bundle 42`, `what staging runs`, `build`. */
export function describeSource(source: BundleSource): string {
  switch (source.kind) {
    case 'bundle':
      return describeBundle(source.bundleId);
    case 'running':
      return `what ${source.targetSlug} runs`;
    default:
      return source.path;
  }
}

export interface ReadSource {
  readonly bundle: ComparedBundle;
  readonly contents: BundleContents;
}

/** Verifies that uploaded bundles can be read, and chooses their backend. Sends nothing. */
export async function chooseSourceBackend(options: DiffBundlesOptions, host: RunHost): Promise<ChosenBackend> {
  const sources = [options.from, options.to];
  const targets = sources.flatMap((source) => (source.kind === 'running' ? [source.targetSlug] : []));
  rejectProblems(targets.flatMap((target) => slugProblems('running', target)));
  const ids = sources.flatMap((source) => (source.kind === 'bundle' ? [source.bundleId] : []));
  const capabilities: readonly BackendCapability[] = [
    'download',
    ...ids.flatMap(namingCapabilities),
    ...(targets.length > 0 ? (['history'] as const) : []),
  ];
  const chosen = await chooseCapable(remoteOptions(options), capabilities, host);
  for (const id of ids) verifyId(chosen.open.backend, id, meantInstead);
  return chosen;
}

function meantInstead(typed: string | undefined): readonly Suggestion[] {
  return [
    ...meantTarget(typed),
    'Pass running:TARGET for what a target runs, a file or folder that exists, latest or the ID of a bundle.',
  ];
}

function remoteOptions(options: ReadSourceOptions) {
  const {preference = 'auto', projectSlug} = options;
  if (projectSlug !== undefined) return {...options, preference, projectSlug};
  throw createError('ERR_OPTION_INVALID', 'projectSlug is required for an uploaded bundle.', {
    details: {problems: [{option: 'projectSlug', message: 'is required for an uploaded bundle'}]},
  });
}

/** Reads what a bundle contains. `format` is how to plan a build folder, `open` the backend of uploaded bundles. */
export async function readSource(
  source: BundleSource,
  open: OpenBackend | undefined,
  {format, ...options}: ReadSourceOptions & {readonly format: BundleFormat},
  host: RunHost,
): Promise<ReadSource> {
  if (source.kind === 'bundle' || source.kind === 'running') {
    if (open === undefined) throw new Error('The backend is not open.');
    const bundleId = source.kind === 'bundle' ? source.bundleId : `running:${source.targetSlug}`;
    const read = (path: string) => readArchiveContents(path, options);
    const {result, ...found} = await readDownloaded(open, bundleId, read);
    const name = `bundle ${String(found.bundleId)}${source.kind === 'running' ? ` on ${source.targetSlug}` : ''}`;
    return {bundle: {...comparedBundle(name, result), ...found}, contents: result};
  }
  const cwd = resolve(host.cwd, options.cwd ?? '.');
  if (source.kind === 'archive') {
    const contents = await readArchiveContents(resolve(cwd, source.path), options);
    return {bundle: comparedBundle(source.path, contents), contents};
  }
  // A v1 archive is named after its project, which makes no difference to its files.
  const {projectSlug = 'project'} = options;
  const content = {...options, projectSlug, format, buildDirectory: source.path};
  const {contents, warnings} = await readFolderContents({...content, ...planningHost(host), cwd});
  warnings.forEach((warning) => host.outlet.warn(warning));
  return {bundle: comparedBundle(source.path, contents), contents};
}

function comparedBundle(name: string, {format, size, sha256}: BundleContents): ComparedBundle {
  return {name, format, size, sha256};
}
