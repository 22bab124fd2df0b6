import {posix} from 'node:path';
import {html} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import type {ArchiveInspection, ContentFile} from '../../bundle/contents/bundle-contents.js';
import {presignedUrl} from '../endpoints/local.js';
import {requestedBundle, param, type Call, type RuntimeContext} from '../runtime-context.js';
import type {BundleRecord} from '../store/store.js';
import * as page from './page.js';
import {deployForm, projectPath} from './project-pages.js';

/** How the files of a bundle are used, as people call it. */
const kinds = {ssrOnly: 'server-only', shared: 'shared', static: 'other', unknown: 'unknown'} as const;

/** How many folders and files are listed at most, and characters of the configuration shown. */
const [listedFolders, listedFiles, maxConfig] = [20, 100, 50_000];

export async function showBundle(call: Call): Promise<Response> {
  const {context} = call;
  const projectSlug = param(call, 'projectSlug');
  const bundle = requestedBundle(call);
  const {files, problems, config} = await inspect(context, bundle);
  const name = `bundle-${bundle.id}.tar${bundle.format === 'v2' ? '.gz' : ''}`;
  const facts: readonly (readonly [name: string, value: page.Html | string])[] = [
    ['Project', html`<a href="${projectPath(projectSlug)}">${page.foreign(projectSlug)}</a>`],
    ['Message', page.foreign(bundle.message === '' ? '–' : bundle.message, 2048)],
    ['Pushed', html`${page.timeText(bundle.createdAt)} by ${page.foreign(bundle.createdBy)}`],
    ['Live on', page.foreign(context.deployments.targetsServing(bundle).join(', ') || '–')],
    ['Format', bundle.format],
    [
      'Archive',
      html`${page.sizeText(bundle.size)} <a href="${presignedUrl(bundle, call)}" download="${name}">Download</a>`,
    ],
    ['Content', summaryOf(files)],
    ['SHA-256', html`<code>${bundle.sha256}</code>`],
    ...problems.map((problem) => ['Problem', page.foreign(problem, 2000)] as const),
  ];
  const values = config === undefined ? 'Not in the archive.' : JSON.stringify(config, null, 2).slice(0, maxConfig);
  const content = html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<h2>Deploy</h2>
${deployForm(call, projectSlug, [bundle])}
${sizes(files)}
<h2>Configuration</h2>
${page.textBlock('Values of the configuration', values)}
<h2>Delete</h2>
<details><summary>Delete bundle ${bundle.id}…</summary><p>It cannot be restored.</p>
<form action="${projectPath(projectSlug)}/bundles/${bundle.id}/delete" method="post"><button>Delete bundle ${bundle.id}</button></form></details>`;
  return page.pageAnswer({title: `Bundle ${bundle.id}`, content});
}

export async function deleteFromPage(call: Call): Promise<Response> {
  await page.readForm(call);
  await call.context.deployments.deleteBundle(requestedBundle(call));
  return page.seeOther(`${projectPath(param(call, 'projectSlug'))}?done=delete`);
}

async function inspect({store}: RuntimeContext, {id, format}: BundleRecord): Promise<ArchiveInspection> {
  const {inspectFile} = await import('../../bundle/contents/bundle-contents.js');
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

function sizes(files: readonly ContentFile[]): page.Html {
  const categories = Object.entries(kinds).flatMap(([kind, name]) => {
    const own = files.filter((file) => kindOf(file) === kind);
    return own.length === 0 ? [] : [html`<li>${name}: ${summaryOf(own)}</li>`];
  });
  const folders = new Map<string, number>();
  for (const {path, size} of files) {
    const folder = posix.dirname(path);
    folders.set(folder, size + (folders.get(folder) ?? 0));
  }
  const largestFolders = [...folders].sort(([, a], [, b]) => b - a).slice(0, listedFolders);
  const folderRows = largestFolders.map(([folder, size]) => [
    folder === '.' ? 'At the top' : page.foreign(folder, 400),
    page.sizeText(size),
  ]);
  const largestFiles = files.toSorted((a, b) => b.size - a.size).slice(0, listedFiles);
  const fileRows = largestFiles.map((file) => [
    page.foreign(file.linkTarget === undefined ? file.path : `${file.path} → ${file.linkTarget}`, 400),
    kinds[kindOf(file)],
    page.sizeText(file.size),
  ]);
  return html`<h2>Categories</h2>
<ul>${categories}</ul>
<h2>Largest folders</h2>
${page.table('Largest folders', {columns: ['Folder', 'Size'], rows: folderRows})}
<h2>Largest files</h2>
${page.table('Largest files', {columns: ['File', 'Category', 'Size'], rows: fileRows})}`;
}

function kindOf({category}: ContentFile): keyof typeof kinds {
  return category ?? 'unknown';
}

function summaryOf(files: readonly ContentFile[]): string {
  const bytes = files.reduce((sum, {size}) => sum + size, 0);
  return `${files.length.toLocaleString('en-US')} ${files.length === 1 ? 'file' : 'files'}, ${prettyBytes(bytes)}`;
}
