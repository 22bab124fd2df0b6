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

/** A header with bytes that no program would write, and its content. */
export function rawEntry(
  name: string,
  {type = '0', size, content = ''}: {readonly type?: string; readonly size?: Buffer; readonly content?: string},
): Buffer {
  const header = Buffer.alloc(512);
  const fields = {0: name, 100: '0000644', 108: '0000000', 116: '0000000', 136: '00000000000', 148: ' '.repeat(8)};
  const more = {124: content.length.toString(8).padStart(11, '0'), 156: type, 257: 'ustar\u000000'};
  for (const [at, text] of Object.entries({...fields, ...more})) header.write(text, Number(at), 'latin1');
  size?.copy(header, 124);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

/** Entries that programs read differently. */
export const unclearEntries: Readonly<Record<string, readonly Buffer[]>> = {
  'an empty path in a pax header': [
    rawEntry('pax', {type: 'x', content: '8 path=\n'}),
    rawEntry('bld/static/a.js', {content: 'a'}),
  ],
  'a path in a global pax header': [
    rawEntry('pax', {type: 'g', content: '16 path=../evil\n'}),
    rawEntry('bld/static/a.js', {content: 'a'}),
  ],
  'a size in a pax header': [
    rawEntry('pax', {type: 'x', content: '10 size=0\n'}),
    rawEntry('bld/static/a.js', {content: 'a'}),
  ],
  'a binary size below 0': [rawEntry('bld/static/a.js', {size: Buffer.alloc(12, 0xff)})],
  'a binary size below 0 that is a large one to some': [
    rawEntry('bld/static/a.js', {size: Buffer.from('c00000000000000000000001', 'hex')}),
  ],
  'a header with a size below 0': [rawEntry('pax', {type: 'x', size: Buffer.alloc(12, 0xff)})],
  'a folder with a size': [rawEntry('bld/static/', {type: '5', content: 'x'.repeat(512)})],
};

/** A tar of entries as they are given. */
export async function rawTar(...entries: readonly HostileEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const {content = '', ...header} of entries) archive.entry(header, content);
  archive.finalize();
  return buffer(archive);
}
