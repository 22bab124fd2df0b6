import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {BundleSource, ComparedBundle, DiffBundlesOptions, ReadSourceOptions} from './bundle-options.js';
import type {BundleId} from '../backends/contract.js';
import type {BundleFormat} from '../bundle/types.js';
import {createError, type Suggestion} from '../errors/index.js';
import {readArchiveContents, readFolderContents, type BundleContents} from '../bundle/contents/bundle-contents.js';
import {describeBundle, downloadCapabilities, meantTarget, readDownloaded, verifyNamed} from './download-bundle.js';
import {targetIn} from './list-bundles.js';
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

type RemoteSource = Extract<BundleSource, {readonly kind: 'bundle' | 'running'}>;

export function isRemote(source: BundleSource): source is RemoteSource {
  return source.kind === 'bundle' || source.kind === 'running';
}

function idOf(source: RemoteSource): BundleId {
  return source.kind === 'bundle' ? source.bundleId : `running:${source.targetSlug}`;
}

/** A source in few words: `bundle 42`, `what staging runs`, `build`. */
export function describeSource(source: BundleSource): string {
  return isRemote(source) ? describeBundle(idOf(source)) : source.path;
}

export interface ReadSource {
  readonly bundle: ComparedBundle;
  readonly contents: BundleContents;
}

/** Verifies that uploaded bundles can be read, and chooses their backend. Sends nothing. */
export async function chooseSourceBackend(options: DiffBundlesOptions, host: RunHost): Promise<ChosenBackend> {
  const ids = [options.from, options.to].filter(isRemote).map(idOf);
  const chosen = await chooseCapable(remoteOptions(options), ids.flatMap(downloadCapabilities), host);
  for (const id of ids) verifyNamed(chosen.open.backend, id, meantInstead);
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
  if (isRemote(source)) {
    if (open === undefined) throw new Error('The backend is not open.');
    const read = (path: string) => readArchiveContents(path, options);
    const {result, ...found} = await readDownloaded(open, idOf(source), read);
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
