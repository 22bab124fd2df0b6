import {createHash} from 'node:crypto';
import type {DeployPreviewOptions, PreviewItem} from './options.js';
import type {BundleId, TargetItem} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {previewIn} from '../../bundle/provenance/provenance.js';
import {readBundles, readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {accessHeader} from '../../settings/target-settings.js';
import {sideBySide} from '../side-by-side.js';
import {readTargets} from './find-targets.js';

/** Services allow so many characters in slugs and names. */
const longest = 64;
const slugPrefix = 'preview-';
const namePrefix = 'preview: ';

function digestOf(branch: string): string {
  return createHash('sha256').update(branch).digest('hex').slice(0, 8);
}

/** A text that fits with `ending` after it. Half a character would not arrive as it was sent. */
function cut(text: string, ending: string): string {
  return text.slice(0, longest - ending.length).replace(/(?<![\s-])[\s-]+$|[\ud800-\udbff]$/, '') + ending;
}

/** The name of the target of a branch. It tells branches apart whose slugs are the same. */
export function previewName(branch: string): string {
  const name = namePrefix + branch;
  return name.length <= longest ? name : cut(name, `~${digestOf(branch)}`);
}

function wordOf(branch: string): string {
  return branch
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/**
 * Slugs that the target of a branch can have: the second one, which is only its own, if the first is not free. A
 * branch that ends like a digest gets only the second: the first may be that of another branch.
 */
export function previewSlugs(branch: string): readonly [string, string] {
  const word = wordOf(branch);
  const slug = slugPrefix + word;
  const hashed = cut(slug, `-${digestOf(branch)}`);
  const isFree = word !== '' && slug.length <= longest && !/(?:^|-)[0-9a-f]{8}$/.test(word);
  return [isFree ? slug : hashed, hashed];
}

export function isOfOther({name}: Pick<TargetItem, 'name'>, branch: string): boolean {
  return name?.startsWith(namePrefix) === true && name !== previewName(branch);
}

/**
 * The target of a branch, if it is there, or else the slug for a new one.
 * @param copyFrom what a new one is a copy of. Services may not give copies a name, and the backend of a plugin may
 * list none: then the slug must tell the branch.
 */
export async function findPreview(
  open: OpenBackend,
  branch: string,
  copyFrom: string | undefined,
): Promise<{readonly slug: string; readonly item?: TargetItem | undefined}> {
  if (branch.trim() === '') throw createError('ERR_OPTION_INVALID', 'branch must not be empty.');
  const targets = (await readTargets(open)).filter(({state}) => state !== 'deleting');
  const [slug, hashed] = previewSlugs(branch);
  const isPlain = wordOf(branch) === branch;
  const isOwn = (item: TargetItem) =>
    item.name === previewName(branch) ||
    (!isOfOther(item, branch) && (item.targetSlug === hashed || (isPlain && item.targetSlug === slug)));
  const item = targets.find(isOwn);
  if (item !== undefined) {
    if (copyFrom !== undefined && targets.every(({targetSlug}) => targetSlug !== copyFrom))
      open.host.outlet.warn(`There is no target ${copyFrom} to copy, so a new preview could not be created.`);
    return {slug: item.targetSlug, item};
  }
  // The service makes a shorter one, which the push is checked with before.
  if (open.backend.targetSlugs === 'assigned') return {slug: slugPrefix + digestOf(branch)};
  const isTaken = targets.some(({targetSlug}) => targetSlug === slug);
  const mayHaveName = open.backend.plugin === undefined || targets.some((item) => previewBranch(item) !== undefined);
  const tellsBranch = isPlain || (copyFrom === undefined && mayHaveName);
  return {slug: isTaken || !tellsBranch ? hashed : slug};
}

/** The branch in the name of a preview. Undefined if it is no such name. */
export function previewBranch({name}: Pick<TargetItem, 'name'>): string | undefined {
  return name?.startsWith(namePrefix) ? name.slice(namePrefix.length) : undefined;
}

/** The branches of the previews, as far as names and slugs tell. */
export async function previewBranches(open: OpenBackend): Promise<readonly string[]> {
  return (await readTargets(open)).flatMap((target) => {
    const word = target.targetSlug.slice(slugPrefix.length);
    return previewBranch(target) ?? (previewSlugs(word)[0] === target.targetSlug ? word : []);
  });
}

/** The previews of a project: by the names that `deployPreview` gives, or by their slugs. Never production. */
export async function listPreviewItems(open: OpenBackend): Promise<readonly PreviewItem[]> {
  const previews = (await readTargets(open)).filter(
    (item) => item.production !== true && (previewBranch(item) !== undefined || item.targetSlug.startsWith(slugPrefix)),
  );
  return sideBySide(previews, async (item): Promise<PreviewItem> => ({
    ...item,
    branch: previewBranch(item),
    updatedAt: await updateOf(open, item),
  }));
}

/** When something was last deployed to a target, or else when it was made, ISO 8601. */
export async function updateOf(open: OpenBackend, {targetSlug, createdAt}: TargetItem): Promise<string | undefined> {
  const [newest] = open.backend.listDeployments === undefined ? [] : await readHistory(open, targetSlug, 1);
  return newest?.createdAt ?? createdAt;
}

/** The bundles of a project, and which ran on each target. None if the backend does not tell, or deletes none. */
export async function readUses(open: OpenBackend) {
  const {deleteBundle, listDeployments, listBundles} = open.backend;
  const canTell = deleteBundle !== undefined && listDeployments !== undefined && listBundles !== undefined;
  const ran = await sideBySide(canTell ? await readTargets(open) : [], async ({targetSlug}) => {
    const items = await readHistory(open, targetSlug, Infinity);
    return [targetSlug, items.flatMap(({bundleId}) => bundleId ?? [])] as const;
  });
  return {ran: new Map(ran), bundles: canTell ? (await readBundles(open)).items : []};
}

export type Uses = Awaited<ReturnType<typeof readUses>>;

/** The bundles that were uploaded for a preview, also if its deployment was not reached, and ran on no other target. */
export function bundlesOnlyOn(
  {ran, bundles}: Uses,
  {targetSlug, branch}: Pick<PreviewItem, 'targetSlug' | 'branch'>,
): readonly BundleId[] {
  const own = ran.get(targetSlug) ?? [];
  const theirs = [...ran].flatMap(([slug, ids]) => (slug === targetSlug ? [] : ids));
  const preview = branch === undefined ? undefined : previewSlugs(branch)[1];
  const uploaded = bundles.filter(({bundleId, message}) => {
    const uploadedFor = previewIn(message);
    return uploadedFor !== undefined && (uploadedFor === preview || own.includes(bundleId));
  });
  return uploaded.map(({bundleId}) => bundleId).filter((id) => !theirs.includes(id));
}

export function withAccessHeader(
  checks: DeployPreviewOptions['check'],
  access: string | undefined,
): DeployPreviewOptions['check'] {
  if (access === undefined || checks === undefined) return checks;
  return [checks].flat().map((one) => ({...one, headers: {[accessHeader]: access, ...one.headers}}));
}

export function sendsAccessHeader(checks: DeployPreviewOptions['check']): boolean {
  return [checks ?? []]
    .flat()
    .some(({headers = {}}) => Object.keys(headers).some((name) => name.toLowerCase() === accessHeader));
}
