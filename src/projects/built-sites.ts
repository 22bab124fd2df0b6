import {readdir, stat} from 'node:fs/promises';
import {join, posix} from 'node:path';
import {readTextFile} from '../files/read-file.js';
import {filesIn} from './read-project.js';

/** Folders whose pages are no site: sources, packages, reports, what only tools see. */
const noSites = /^(?:src|app|node_modules|coverage|tests?|e2e|templates?|\.(?!vitepress$|vuepress$).*)$/;
/** How much older than the newest source a page may be that was built of it, in milliseconds. */
const checkoutMs = 10_000;
const maxFolders = 500;
const mostSites = 5;

/** Folders of a project that have a page which is not older than its sources. The newest first. */
export async function builtSites(project: string): Promise<readonly string[]> {
  const pages: {readonly folder: string; readonly time: number}[] = [];
  for (const folder of await foldersBelow(project)) {
    const time = await changed(join(project, folder, 'index.html'));
    if (time !== undefined) pages.push({folder, time});
  }
  const top = pages.filter(({folder}) => !pages.some((other) => folder.startsWith(`${other.folder}/`)));
  const folders = ['src', 'app', 'pages', 'source', 'content', 'docs'];
  const files = (await Promise.all(folders.map((name) => filesIn(project, `${name}/`)))).flat();
  const sources = files.filter((path) => !top.some(({folder}) => path.startsWith(`${folder}/`)));
  const times = await Promise.all(sources.map((path) => changed(join(project, path))));
  const newest = times.reduce<number>((latest, time = 0) => Math.max(latest, time), 0);
  const sites: string[] = [];
  for (const {folder, time} of top.toSorted((one, other) => other.time - one.time)) {
    if (time >= newest - checkoutMs && !(await isSource(join(project, folder)))) sites.push(folder);
  }
  return sites.slice(0, mostSites);
}

async function changed(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}

/** The folders in which a build may be, three levels deep. Other projects and what is below them are left out. */
async function foldersBelow(project: string): Promise<readonly string[]> {
  const found: string[] = [];
  const queue = [''];
  for (const base of queue) {
    const entries = await readdir(join(project, base), {withFileTypes: true}).catch(() => []);
    if (base !== '' && entries.some(({name}) => name === 'package.json')) continue;
    found.push(base);
    if (base.split('/').length > 2 || queue.length > maxFolders) continue;
    const folders = entries.filter((entry) => entry.isDirectory() && !noSites.test(entry.name));
    queue.push(...folders.map(({name}) => posix.join(base, name)));
  }
  return found.slice(1);
}

/** Whether a page loads what only a build makes a script of, or has places that a build fills. */
export async function isSource(directory: string): Promise<boolean> {
  const page = await readTextFile(join(directory, 'index.html')).catch(() => '');
  return /%PUBLIC_URL%|<%=|<script\b[^>]*\bsrc=["']?(?:[^"'>]*\.(?:[cm]?tsx?|jsx|vue|svelte)\b|\/src\/)/.test(page);
}
