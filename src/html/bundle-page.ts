import prettyBytes from 'pretty-bytes';
import type {ContentFile} from '../operations/bundle-contents.js';
import type {FileChange} from '../operations/compare-contents.js';
import type {DiffBundlesResult} from '../operations/diff-bundles.js';
import type {ArchiveInspection} from '../operations/inspect-bundle.js';
import {Html, markup, shortened} from './html.js';
import {renderPage, renderTable} from './page.js';
import {layOut, treeOf, type Cell, type TreeNode} from './treemap.js';

/** How the files of a bundle are used, as people call it, with the class of its color. */
const kinds = {
  ssrOnly: 'server-only',
  shared: 'shared',
  static: 'other',
  unknown: 'unknown',
} as const;
type Kind = keyof typeof kinds;

const isKnown = (kind: string): kind is Kind => Object.hasOwn(kinds, kind);

const kindOf = ({category}: Pick<ContentFile, 'category'>): Kind => category ?? 'unknown';

/** How many files and folders the tables list. */
const listed = 50;
/** The longest path that is shown whole. */
const longestPath = 400;

/** Options of `renderBundlePage`. */
export interface BundlePageOptions {
  /** What the page is about, for users: `bundle 42`, or the name of a file. */
  readonly name: string;
  /** What has changed since another bundle, as `diffBundles` returns it. @default the page does not tell */
  readonly diff?: DiffBundlesResult | undefined;
  /** Masks secrets in a text. @default nothing is masked */
  readonly mask?: ((text: string) => string) | undefined;
}

/** Styles of what this module makes. */
export const bundleStyles = `
:root { --ssrOnly: #b5442a; --shared: #7a4bb3; --static: #1f6f9f; --unknown: #5c6670; --mixed: #4f5a34; --cell: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ssrOnly: #e58a73; --shared: #b99be3; --static: #6fb6dd; --unknown: #a3adb8; --mixed: #adb884; --cell: #101418; }
}
figure { margin: 0; }
.treemap { display: block; width: 100%; height: clamp(32rem, 60vw, 44rem); background: var(--raised); }
.treemap rect { stroke: var(--ground); stroke-width: 1px; }
.treemap text { font: 12px system-ui, sans-serif; fill: var(--cell); }
.treemap .folder { fill: var(--raised); stroke: var(--line); }
.treemap .folder + text { fill: var(--ink); font-weight: 600; }
${[...Object.keys(kinds), 'mixed'].map((kind) => `.${kind} { fill: var(--${kind}); background: var(--${kind}); }`).join('\n')}
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .5rem 0 0; list-style: none; }
.kind { white-space: nowrap; }
.swatch { display: inline-block; width: .9em; height: .9em; margin-right: .4em; border-radius: .15em; vertical-align: -.08em; }
.bar { display: block; width: 100%; min-width: 6rem; height: .9rem; }
.bar .track { fill: var(--raised); }
@media (max-width: 40rem) { .treemap .small { display: none; } .treemap text { font-size: 11px; } }
@media print {
  :root { --ssrOnly: #b5442a; --shared: #7a4bb3; --static: #1f6f9f; --unknown: #5c6670; --mixed: #4f5a34; --cell: #fff; }
  .treemap { height: 16cm; }
  .treemap, .swatch, .bar { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}`;

/**
 * One page of HTML about a bundle: sizes as a treemap and in tables, the configuration and what its patterns match. It
 * loads nothing and runs nothing, and is the same for the same bundle.
 */
export function renderBundlePage(
  inspection: ArchiveInspection,
  {name, diff, mask = (text) => text}: BundlePageOptions,
): string {
  const content = markup`<h1>${shortened(mask(name), longestPath)}</h1>
    <dl class="facts">
      <dt>Format</dt>
      <dd>${inspection.format}</dd>
      <dt>Archive</dt>
      <dd>${bytes(inspection.size)}</dd>
      <dt>Content</dt>
      <dd>${contentText(inspection)}</dd>
      <dt>SHA-256</dt>
      <dd><code>${inspection.sha256}</code></dd>
    </dl>
    ${renderBundleSections(inspection, {diff, mask})}`;
  return renderPage({title: `${shortened(mask(name), 80)}: contents of a bundle`, content, styles: bundleStyles});
}

/** How many files a bundle has, and their size. */
export function contentText({files}: Pick<ArchiveInspection, 'files'>): string {
  return `${countOf(files.length)}, ${bytes(files.reduce((sum, {size}) => sum + size, 0))}`;
}

/** The sections of a page about a bundle, and their table of contents. */
export function renderBundleSections(
  inspection: ArchiveInspection,
  {diff, mask = (text) => text}: Pick<BundlePageOptions, 'diff' | 'mask'>,
): Html {
  const problems = inspection.problems.map(mask);
  const files = inspection.files.map(({path, linkTarget, ...file}) => ({
    ...file,
    path: mask(path),
    linkTarget: linkTarget === undefined ? undefined : mask(linkTarget),
  }));
  const tree = treeOf<Kind>(files.map((file) => ({path: file.path, size: file.size, kind: kindOf(file)})));
  const sections = [
    ...(problems.length === 0 ? [] : [problemSection(problems)]),
    ...(diff === undefined ? [] : [diffSection(diff, mask)]),
    categorySection(files),
    mapSection(tree),
    fileSection(files),
    configSection(inspection, mask),
  ];
  return markup`<nav aria-label="Contents">
      <ul>
        ${sections.map(({id, title}) => markup`<li><a href="#${id}">${title}</a></li>`)}
      </ul>
    </nav>
    ${sections.map(
      ({id, title, body}) =>
        markup`<section aria-labelledby="${id}">
          <h2 id="${id}">${title}</h2>
          ${body}
        </section> `,
    )}`;
}

/** A part of the page. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

function problemSection(problems: readonly string[]): Section {
  const body = markup`<ul>
    ${problems.map((problem) => markup`<li>${shortened(problem, 2000)}</li>`)}
  </ul>`;
  return {id: 'problems', title: 'Problems', body};
}

/** How many differences the page lists. */
const listedChanges = 100;

function diffSection(diff: DiffBundlesResult, mask: (text: string) => string): Section {
  return {id: 'changes', title: 'Changes', body: renderDiff(diff, mask)};
}

/** What has changed between two bundles: a sentence and tables. */
export function renderDiff(diff: DiffBundlesResult, mask: (text: string) => string): Html {
  const {total, changes, config} = diff;
  const {categories} = diff;
  const before = shortened(mask(diff.before.name), longestPath);
  const {added, removed, changed} = total;
  const counts = `${countText(added)} added, ${countText(removed)} removed, ${countText(changed)} changed`;
  const growth = difference(total.after.bytes - total.before.bytes);
  const lists = [
    ...(categories.length === 0
      ? []
      : [
          renderTable(
            'Size before and after, by category',
            [
              {title: 'Category', cell: ({category}) => kindName(category)},
              {title: 'Before', isNumber: true, cell: (row) => bytes(row.before.bytes)},
              {title: 'After', isNumber: true, cell: (row) => bytes(row.after.bytes)},
              {title: 'Difference', isNumber: true, cell: (row) => difference(row.after.bytes - row.before.bytes)},
              {title: 'Added', isNumber: true, cell: (row) => countText(row.added)},
              {title: 'Removed', isNumber: true, cell: (row) => countText(row.removed)},
              {title: 'Changed', isNumber: true, cell: (row) => countText(row.changed)},
            ],
            categories,
          ),
        ]),
    ...(changes.length === 0 ? [] : [changeTable(changes, mask)]),
    ...(config.length === 0
      ? []
      : [
          renderTable(
            'Changes of the configuration',
            [
              {title: 'Key', cell: ({key}) => pathText(mask(key))},
              {title: 'Before', cell: (change) => valueText(change.before, mask)},
              {title: 'After', cell: (change) => valueText(change.after, mask)},
            ],
            config.slice(0, listedChanges),
          ),
        ]),
  ];
  return markup`<p>${diff.identical ? `The same as ${before}.` : `Compared with ${before}: ${counts}, ${growth}.`}</p>
${lists.map((list) => markup`${list}\n`)}`;
}

function changeTable(changes: readonly FileChange[], mask: (text: string) => string): Html {
  const caption =
    changes.length <= listedChanges
      ? 'All files that differ, the largest differences first'
      : `The ${String(listedChanges)} largest of ${countText(changes.length)} differences`;
  const sizeOf = (state: FileChange['before']) => (state === undefined ? '–' : bytes(state.size));
  return renderTable(
    caption,
    [
      {title: 'File', cell: ({path}) => pathText(mask(path))},
      {title: 'Change', cell: ({change, differs}) => [change, ...differs].join(', ')},
      {title: 'Before', isNumber: true, cell: ({before}) => sizeOf(before)},
      {title: 'After', isNumber: true, cell: ({after}) => sizeOf(after)},
      {title: 'Difference', isNumber: true, cell: (change) => difference(change.bytes)},
    ],
    changes.slice(0, listedChanges),
  );
}

function valueText(value: unknown, mask: (text: string) => string): Html | string {
  return value === undefined ? '–' : pathText(JSON.stringify(value, maskedBy(mask)));
}

function difference(count: number): string {
  return prettyBytes(count, {signed: true});
}

/** For `JSON.stringify`. */
function maskedBy(mask: (text: string) => string) {
  return (_key: string, value: unknown): unknown => (typeof value === 'string' ? mask(value) : value);
}

function categorySection(files: readonly ContentFile[]): Section {
  const all = files.reduce((sum, {size}) => sum + size, 0);
  const rows = Object.keys(kinds).flatMap((kind) => {
    const own = files.filter((file) => kindOf(file) === kind);
    return own.length === 0 ? [] : [{kind, files: own.length, size: own.reduce((sum, {size}) => sum + size, 0)}];
  });
  const body = renderTable(
    'Size of the files by category',
    [
      {title: 'Category', cell: ({kind}) => kindName(kind)},
      {title: 'Files', isNumber: true, cell: (row) => countText(row.files)},
      {title: 'Size', isNumber: true, cell: ({size}) => bytes(size)},
      {title: 'Share', isNumber: true, cell: ({size}) => share(size, all)},
      {title: 'Bar', cell: ({kind, size}) => bar(kind, all === 0 ? 0 : size / all)},
    ],
    rows,
  );
  return {id: 'categories', title: 'Categories', body};
}

function bar(kind: string, part: number): Html {
  return markup`<svg class="bar" aria-hidden="true">
    <rect class="track" width="100%" height="100%" />
    <rect class="${kind}" width="${percent(part)}" height="100%" />
  </svg>`;
}

/** The proportions of the treemap. Its parts are shown in percent of it. */
const map = {width: 1000, height: 600, header: 20, smallest: 0.0007};

function mapSection(tree: TreeNode<Kind>): Section {
  const cells = layOut(tree, map);
  if (cells.length === 0) return {id: 'sizes', title: 'Sizes', body: markup`<p>All files are empty.</p>`};
  const present = new Set(cells.filter(({role}) => role !== 'folder').map(({node}) => node.kind));
  const folders = largestFolders(tree);
  const body = markup`<figure>
      <svg
        class="treemap"
        role="img"
        aria-label="Treemap of the files: the larger an area, the more bytes. The tables below have the same in words."
      >
        ${cells.map(renderCell)}
      </svg>
      <figcaption>
        <ul class="legend">
          ${[...Object.keys(kinds), 'mixed']
            .filter((kind) => present.has(isKnown(kind) ? kind : 'mixed'))
            .map((kind) => markup`<li>${kindName(kind)}</li>`)}
        </ul>
      </figcaption>
    </figure>
    ${
      folders.length === 0
        ? undefined
        : markup`<h3>Folders</h3>
            ${renderTable(
              folders.length < listed ? 'Folders by size' : `The ${String(listed)} largest folders`,
              [
                {title: 'Folder', cell: ({path}) => pathText(`${path}/`)},
                {title: 'Files', isNumber: true, cell: (folder) => countText(folder.files)},
                {title: 'Size', isNumber: true, cell: ({size}) => bytes(size)},
                {title: 'Share', isNumber: true, cell: ({size}) => share(size, tree.size)},
              ],
              folders,
            )}`
    }`;
  return {id: 'sizes', title: 'Sizes', body};
}

function renderCell({node, role, x, y, width, height}: Cell<Kind>): Html {
  const corner = markup`x="${percent(x / map.width)}" y="${percent(y / map.height)}"`;
  const extent = markup`width="${percent(width / map.width)}" height="${percent(height / map.height)}"`;
  const isFolder = role === 'folder';
  const name = cellName(node, role);
  const about = markup`<title>${shortened(titleOf(node, role), 200)}: ${bytes(node.size)}</title>`;
  const hasText = width > 36 && height > 18;
  const size = width < 110 || height < 36 ? new Html(' class="small"') : undefined;
  const text = hasText
    ? markup`<text x="4" y="14" ${size}>${shortened(name, Math.floor(width / 7))}</text>`
    : undefined;
  const area = markup`<rect class="${isFolder ? 'folder' : node.kind}" width="100%" height="100%" />`;
  return markup`<svg ${corner} ${extent}>${about}${area}${text}</svg>\n`;
}

function cellName({name, files, children}: TreeNode<Kind>, role: Cell<Kind>['role']): string {
  if (role === 'file') return name;
  return name === '' || children === undefined ? countOf(files) : `${name}/`;
}

function titleOf({name, path, files}: TreeNode<Kind>, role: Cell<Kind>['role']): string {
  if (role === 'file') return path;
  if (name !== '') return `${path}/, ${countOf(files)}`;
  return path === '' ? `${countOf(files)} more` : `${path}/, ${countOf(files)} more`;
}

function largestFolders(tree: TreeNode<Kind>): readonly TreeNode<Kind>[] {
  const folders: TreeNode<Kind>[] = [];
  const visit = (node: TreeNode<Kind>): void => {
    if (node.children === undefined) return;
    if (node.path !== '') folders.push(node);
    node.children.forEach(visit);
  };
  visit(tree);
  return folders.sort((a, b) => b.size - a.size).slice(0, listed);
}

function fileSection(files: readonly ContentFile[]): Section {
  const all = files.reduce((sum, {size}) => sum + size, 0);
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, listed);
  const body = renderTable(
    files.length <= listed ? 'All files by size' : `The ${String(listed)} largest of ${countOf(files.length)}`,
    [
      {
        title: 'File',
        cell: ({path, linkTarget}) =>
          markup`${pathText(path)}${linkTarget === undefined ? undefined : markup` &rarr; ${pathText(linkTarget)}`}`,
      },
      {title: 'Category', cell: (file) => kindName(kindOf(file))},
      {title: 'Size', isNumber: true, cell: ({size}) => bytes(size)},
      {title: 'Share', isNumber: true, cell: ({size}) => share(size, all)},
    ],
    largest,
  );
  return {id: 'files', title: 'Largest files', body};
}

function configSection(
  {config, rootDir, configPath, matches}: ArchiveInspection,
  mask: (text: string) => string,
): Section {
  const patterns = [
    ...matches.ssrOnly.map((match) => ({setting: 'ssrOnly', ...match})),
    ...matches.ssrShared.map((match) => ({setting: 'ssrShared', ...match})),
  ];
  const json = config && JSON.stringify(config, maskedBy(mask), 2);
  const body = markup`${
    rootDir === undefined
      ? undefined
      : markup`<dl class="facts">
          <dt>Root folder</dt>
          <dd>${pathText(rootDir)}</dd>
          ${
            configPath === undefined
              ? undefined
              : markup`<dt>Configuration</dt>
                  <dd>${pathText(configPath)}</dd>`
          }
        </dl> `
  }${
    patterns.length === 0
      ? undefined
      : markup`<h3>Patterns</h3>
          ${renderTable(
            'What each pattern matches on its own',
            [
              {title: 'Pattern', cell: ({pattern}) => pathText(mask(pattern))},
              {title: 'Setting', cell: ({setting}) => setting},
              {title: 'Files', isNumber: true, cell: ({files}) => countText(files)},
            ],
            patterns.slice(0, 4 * listed),
          )} `
  }${
    json === undefined
      ? markup`<p>The archive does not contain its configuration.</p>`
      : markup`<h3>Values</h3>
          <pre tabindex="0" role="region" aria-label="Values of the configuration">${shortened(json, 50_000)}</pre>`
  }`;
  return {id: 'configuration', title: 'Configuration', body};
}

function kindName(kind: string): Html {
  const known = isKnown(kind) ? kind : 'mixed';
  const name = isKnown(kind) ? kinds[kind] : 'several categories';
  return markup`<span class="kind"><span class="swatch ${known}" aria-hidden="true"></span>${name}</span>`;
}

function pathText(path: string): Html {
  return markup`<bdi class="path">${path === '' ? '(no name)' : shortened(path, longestPath)}</bdi>`;
}

function bytes(size: number): string {
  return prettyBytes(size);
}

function countText(count: number): string {
  return count.toLocaleString('en-US');
}

function countOf(files: number): string {
  return `${countText(files)} ${files === 1 ? 'file' : 'files'}`;
}

function share(size: number, all: number): string {
  return all === 0 ? '–' : `${((100 * size) / all).toFixed(1)}%`;
}

function percent(part: number): string {
  return `${String(Math.round(part * 10_000) / 100)}%`;
}
