import prettyBytes from 'pretty-bytes';
import type {ContentFile} from '../../operations/bundle-contents.js';
import type {ContentsDiff, FileChange} from '../../operations/compare-contents.js';
import type {ArchiveInspection} from '../../operations/inspect-bundle.js';
import {param, type AdmittedCall, type RuntimeContext} from '../context.js';
import type {BundleRecord} from '../store/store.js';
import {findBundle} from '../wire/requested-records.js';
import {foreign, markup, shortened, table, type Html, type HtmlValue} from './html.js';
import {pageAnswer} from './page.js';
import {bundleText, listed, projectPath, timeText} from './parts.js';
import {compareForm, deployForm, targetNames} from './project-pages.js';
import {renderTreemap} from './treemap.js';

/** How the files of a bundle are used, as people call it, by the class of its color. */
const kinds = {
  ssrOnly: 'server-only',
  shared: 'shared',
  static: 'other',
  unknown: 'unknown',
  mixed: 'several categories',
} as const;

type Mask = (text: string) => string;

/** Reads the archive of a bundle. */
async function inspect({store}: RuntimeContext, {id, format}: BundleRecord): Promise<ArchiveInspection> {
  const {inspectFile} = await import('../../operations/inspect-bundle.js');
  const {root, configPath, served, shared} = await store.contents(id);
  const inspection = await inspectFile(store.archivePath(id), {rootDir: root, configPath});
  if (format === 'v2') return inspection;
  // A v1 archive does not contain its categories; its upload named them.
  const [isServed, isShared] = [new Set(served), new Set(shared)];
  const categoryOf = (path: string) => {
    if (!isServed.has(path)) return 'ssrOnly';
    return isShared.has(path) ? 'shared' : 'static';
  };
  return {...inspection, files: inspection.files.map((file) => ({...file, category: categoryOf(file.path)}))};
}

/** The page of a bundle. */
export async function showBundle(call: AdmittedCall): Promise<Response> {
  const {context} = call;
  const {mask, deployments} = context;
  const projectSlug = param(call, 'projectSlug');
  const bundle = findBundle(call, projectSlug, Number(param(call, 'bundleId')));
  const inspection = await inspect(context, bundle);
  const {files, problems} = inspection;
  const facts: Readonly<Record<string, HtmlValue>> = {
    Message: bundle.message === '' ? '–' : foreign(mask(bundle.message), 2048),
    Pushed: markup`${timeText(bundle.createdAt)} by ${foreign(mask(bundle.createdBy), 60)}`,
    'Live on': targetNames(deployments.targetsServing(bundle)),
    Format: bundle.format,
    Archive: prettyBytes(bundle.size),
    Content: `${countOf(files.length)}, ${prettyBytes(sizeOf(files))}`,
    'SHA-256': markup`<code>${bundle.sha256}</code>`,
  };
  const content = markup`<dl class="facts">
${Object.entries(facts).map(([name, fact]) => markup`<dt>${name}</dt><dd>${fact}</dd>`)}
</dl>
<h2>Deploy</h2>
${deployForm(call, projectSlug, [bundle])}
${
  problems.length === 0
    ? undefined
    : markup`<h2>Problems</h2>
<ul>${problems.map((problem) => markup`<li>${shortened(mask(problem), 2000)}</li>`)}</ul>`
}
<h2>Sizes</h2>
${sizes(files, mask)}
<h2>Configuration</h2>
${configuration(inspection, mask)}`;
  return pageAnswer({title: `Bundle ${bundle.id}`, place: 'Projects', parents: parentsOf(projectSlug), content});
}

/** The pages above one of a project. */
function parentsOf(projectSlug: string) {
  return [
    {name: 'Projects', path: '/'},
    {name: shortened(projectSlug, 60), path: projectPath(projectSlug)},
  ];
}

function sizes(files: readonly ContentFile[], mask: Mask): Html {
  const all = sizeOf(files);
  const share = (size: number) => (all === 0 ? '–' : `${((100 * size) / all).toFixed(1)}%`);
  const rows = Object.keys(kinds).flatMap((kind) => {
    const own = files.filter((file) => kindOf(file) === kind);
    return own.length === 0 ? [] : [{kind, files: own.length, size: sizeOf(own)}];
  });
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, listed);
  return markup`${table(
    'Size of the files by category',
    [
      {title: 'Category', cell: ({kind}) => kindName(kind)},
      {title: 'Files', isNumber: true, cell: (row) => count(row.files)},
      {title: 'Size', isNumber: true, cell: ({size}) => prettyBytes(size)},
      {title: 'Share', isNumber: true, cell: ({size}) => share(size)},
    ],
    rows,
  )}
<h3>Treemap</h3>
${
  all === 0
    ? markup`<p>All files are empty.</p>`
    : markup`<figure>${renderTreemap(files.map((file) => ({path: mask(file.path), size: file.size, kind: kindOf(file)})))}
<figcaption><ul class="legend">${Object.keys(kinds).map((kind) => markup`<li>${kindName(kind)}</li>`)}</ul></figcaption></figure>`
}
<h3>Largest files</h3>
${table(
  files.length <= listed ? 'All files by size' : `The ${listed} largest of ${countOf(files.length)}`,
  [
    {
      title: 'File',
      cell: ({path, linkTarget}) =>
        markup`${pathText(path, mask)}${linkTarget === undefined ? undefined : markup` → ${pathText(linkTarget, mask)}`}`,
    },
    {title: 'Category', cell: (file) => kindName(kindOf(file))},
    {title: 'Size', isNumber: true, cell: ({size}) => prettyBytes(size)},
    {title: 'Share', isNumber: true, cell: ({size}) => share(size)},
  ],
  largest,
)}`;
}

function configuration({config, matches}: ArchiveInspection, mask: Mask): Html {
  const patterns = Object.entries(matches).flatMap(([setting, list]) => list.map((match) => ({setting, ...match})));
  if (config === undefined) return markup`<p>The archive does not contain its configuration.</p>`;
  const values = shortened(JSON.stringify(config, maskedBy(mask), 2), 50_000);
  return markup`${table(
    'What each pattern matches on its own',
    [
      {title: 'Pattern', cell: ({pattern}) => pathText(pattern, mask)},
      {title: 'Setting', cell: ({setting}) => setting},
      {title: 'Files', isNumber: true, cell: ({files}) => count(files)},
    ],
    patterns.slice(0, 2 * listed),
  )}
<h3>Values</h3>
<pre tabindex="0" role="region" aria-label="Values of the configuration">${values}</pre>`;
}

/** The difference between two bundles. */
export async function showComparison(call: AdmittedCall): Promise<Response> {
  const {context, query} = call;
  const projectSlug = param(call, 'projectSlug');
  const bundle = (name: string) => findBundle(call, projectSlug, Number(query.get(name) ?? ''));
  const [from, to] = [bundle('from'), bundle('to')];
  const {compareContents} = await import('../../operations/compare-contents.js');
  const diff = compareContents(await inspect(context, from), await inspect(context, to));
  const content = markup`<dl class="facts">
<dt>Before</dt><dd>${bundleText(context, from)}</dd>
<dt>After</dt><dd>${bundleText(context, to)}</dd>
</dl>
<h2>Changes</h2>
${changes(diff, `bundle ${from.id}`, context.mask)}
${compareForm(call, projectSlug)}`;
  return pageAnswer({
    ...({title: `From bundle ${from.id} to bundle ${to.id}`, place: 'Projects', content} as const),
    parents: parentsOf(projectSlug),
  });
}

function changes(
  {identical, total, categories, changes: files, config}: ContentsDiff,
  before: string,
  mask: Mask,
): Html {
  if (identical) return markup`<p>The same as ${before}.</p>`;
  const counts = `${count(total.added)} added, ${count(total.removed)} removed, ${count(total.changed)} changed`;
  const growth = signed(total.after.bytes - total.before.bytes);
  const state = (file: FileChange['before']) => (file === undefined ? '–' : prettyBytes(file.size));
  const value = (one: unknown) => (one === undefined ? '–' : pathText(JSON.stringify(one, maskedBy(mask)), mask));
  const tables = [
    categories.length > 0 &&
      table(
        'Size before and after, by category',
        [
          {title: 'Category', cell: ({category}) => kindName(category)},
          {title: 'Before', isNumber: true, cell: (row) => prettyBytes(row.before.bytes)},
          {title: 'After', isNumber: true, cell: (row) => prettyBytes(row.after.bytes)},
          {title: 'Difference', isNumber: true, cell: (row) => signed(row.after.bytes - row.before.bytes)},
        ],
        categories,
      ),
    files.length > 0 &&
      table(
        files.length <= listed
          ? 'All files that differ, the largest differences first'
          : `The ${listed} largest of ${count(files.length)} differences`,
        [
          {title: 'File', cell: ({path}) => pathText(path, mask)},
          {title: 'Change', cell: ({change, differs}) => [change, ...differs].join(', ')},
          {title: 'Before', isNumber: true, cell: (file) => state(file.before)},
          {title: 'After', isNumber: true, cell: (file) => state(file.after)},
          {title: 'Difference', isNumber: true, cell: (file) => signed(file.bytes)},
        ],
        files.slice(0, listed),
      ),
    config.length > 0 &&
      table(
        'Changes of the configuration',
        [
          {title: 'Key', cell: ({key}) => pathText(key, mask)},
          {title: 'Before', cell: (change) => value(change.before)},
          {title: 'After', cell: (change) => value(change.after)},
        ],
        config.slice(0, listed),
      ),
  ];
  return markup`<p>Compared with ${before}: ${counts}, ${growth}.</p>${tables.filter((one) => one !== false)}`;
}

function kindOf({category}: ContentFile): keyof typeof kinds {
  return category ?? 'unknown';
}

function kindName(kind: string): Html {
  const name = Object.entries(kinds).find(([key]) => key === kind)?.[1];
  return markup`<span class="swatch ${kind}" aria-hidden="true"></span>${name}`;
}

function pathText(path: string, mask: Mask): Html {
  return markup`<bdi class="path">${path === '' ? '(no name)' : shortened(mask(path), 400)}</bdi>`;
}

/** For `JSON.stringify`. */
function maskedBy(mask: Mask) {
  return (_key: string, value: unknown): unknown => (typeof value === 'string' ? mask(value) : value);
}

function sizeOf(files: readonly ContentFile[]): number {
  return files.reduce((sum, {size}) => sum + size, 0);
}

function signed(bytes: number): string {
  return prettyBytes(bytes, {signed: true});
}

function count(files: number): string {
  return files.toLocaleString('en-US');
}

function countOf(files: number): string {
  return `${count(files)} ${files === 1 ? 'file' : 'files'}`;
}
