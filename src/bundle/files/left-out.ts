import {join, sep} from 'node:path';
import {exists} from '../../files/read-file.js';
import {otherHosts} from '../../frameworks/other-hosts.js';
import {findServer, otherEntries} from '../../projects/build-rows.js';
import {readProject} from '../../projects/read-project.js';

/** Warnings about parts of a project that only another host runs, so that no build has them. */
export async function partWarnings(project: string, build: string): Promise<readonly string[]> {
  const {names: files, packages} = await readProject(project);
  const names = [...files, ...packages];
  const found: string[] = [];
  const parts = otherHosts.flatMap(({host, parts: own = []}) => own.map((part) => ({host, ...part})));
  for (const {host, path, beside} of parts) {
    const isOthers = beside === undefined || names.some((name) => beside.test(name));
    // Any project may have an API beside it.
    if (path.startsWith('..') && !(await exists(join(project, '../redwood.toml')))) continue;
    const place = join(project, path);
    if (isOthers && !`${place}${sep}`.startsWith(`${build}${sep}`) && (await exists(place)))
      found.push(`${path} (${host})`);
  }
  if (found.length === 0) return [];
  return [
    `The bundle leaves out what only another host runs: ${found.join(', ')}. If the site needs it, keep it there and call it ` +
      'by its URL, or make it part of a server (docs/guides/frameworks.md, Other servers).',
  ];
}

/** A warning about a build of no known framework that has server-only files, and nothing that the Runtime can start. */
export async function startWarnings(build: string, paths: readonly string[]): Promise<readonly string[]> {
  if (otherEntries.some((path) => paths.includes(path)) || (await findServer(build)) !== undefined) return [];
  return [
    'Nothing in the build is a server that the Runtime can start, so every path without a file answers 404. Add an ssr.mjs ' +
      'at its top that listens, or exports an app or a handler as default. For a site without a server, build pages instead.',
  ];
}
