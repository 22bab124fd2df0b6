import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {buffer} from 'node:stream/consumers';
import {gzipSync} from 'node:zlib';
import {pack, type Header} from 'tar-stream';

/** The configuration of the bundles here. */
export const config = {
  ssrOnly: ['ssr.js'],
  ssrShared: ['static/**/*'],
  ssrParameters: {SSRFunctionNodeVersion: '24.x'},
};

/** Files of a small build. */
export const build: Readonly<Record<string, string>> = {
  'ssr.js': 'the server alone may read this',
  'static/index.html': '<h1>shop</h1>',
  'static/app.js': 'console.log("shop")',
  'server/hidden.txt': 'hidden',
};

/** A tar of `files` made by GNU tar, every name below `prefix`. */
export async function gnuTar(
  files: Readonly<Record<string, string>>,
  {prefix, gzip}: {readonly prefix: string; readonly gzip: boolean},
): Promise<Buffer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-test-tar-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(folder, prefix, name);
      await mkdir(path.dirname(file), {recursive: true});
      await writeFile(file, content);
    }
    const [top = '.'] = prefix.split('/');
    const {stdout} = await promisify(execFile)('tar', [gzip ? '-czf' : '-cf', '-', '-C', folder, top], {
      encoding: 'buffer',
    });
    return stdout;
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

/** A v2 archive of GNU tar. */
export function v2Archive(
  files = build,
  {settings = config, gzip = true}: {readonly settings?: unknown; readonly gzip?: boolean} = {},
): Promise<Buffer> {
  return gnuTar({...files, '.runtime/config.json': JSON.stringify(settings)}, {prefix: 'bld', gzip});
}

/** An entry of a tar that GNU tar would not make. */
export type HostileEntry = Partial<Header> & {readonly name: string; readonly content?: string};

/** A v2 archive with a configuration and, beside it, entries as they are given. */
export async function hostileArchive(...entries: readonly HostileEntry[]): Promise<Buffer> {
  const settings = JSON.stringify({...config, ssrOnly: ['*.js'], ssrShared: []});
  return gzipSync(
    await rawTar({name: 'bld/ssr.js', content: 'x'}, {name: 'bld/.runtime/config.json', content: settings}, ...entries),
  );
}

/** A tar of entries as they are given. */
export async function rawTar(...entries: readonly HostileEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const {content = '', ...header} of entries) archive.entry(header, content);
  archive.finalize();
  return buffer(archive);
}
