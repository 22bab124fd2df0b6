import {mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from 'node:fs';
import nodeModule, {createRequire} from 'node:module';
import {basename, dirname, join, sep} from 'node:path';
import {Script} from 'node:vm';
import {crc32} from 'node:zlib';

/** Loads the file into the module. */
type Load = (module: NodeJS.Module, file: string) => void;
/** What the code of a CommonJS module is wrapped in. */
type Wrapper = (exports: unknown, require: unknown, module: unknown, filename: string, dirname: string) => unknown;

/** Bytes before the code in a file of the cache: checksums of the source and of the code. */
const headBytes = 8;
/** The file that calls `import()` for all others: on Node 20, that fails in code that comes from a cache. */
const importModuleFile = 'import-module.cjs';

/**
 * Does for Node 20 what `enableCompileCache` does in newer ones: keeps the code that V8 has compiled of each of our
 * `.cjs` files, and hands it back to V8 in the next process. V8 refuses code that another version of it has compiled. A
 * file whose code cannot be read or written is compiled as always.
 * @param dist The folder of our files.
 * @param folder Where to keep the code. Not used unless it belongs to this user, and nobody else can write to it.
 */
export function keepCode(dist: string, folder: string): void {
  mkdirSync(folder, {recursive: true, mode: 0o700});
  if (!isPrivate(folder)) return;
  const extensions = Reflect.get(nodeModule, '_extensions') as Record<string, Load | undefined>;
  const standard = extensions['.js'];
  const added: {readonly script: Script; readonly source: number; readonly kept: string}[] = [];
  extensions['.cjs'] = (module, file) => {
    if (!file.startsWith(dist + sep) || basename(file) === importModuleFile) return standard?.(module, file);
    const text = readFileSync(file, 'utf8');
    const source = crc32(text);
    const kept = join(folder, `${file.slice(dist.length + 1).replaceAll(sep, '-')}.code`);
    const cachedData = readCode(kept, source);
    const script = new Script(nodeModule.wrap(text), {filename: file, cachedData});
    if (cachedData === undefined || script.cachedDataRejected === true) added.push({script, source, kept});
    const compiled = script.runInThisContext() as Wrapper;
    compiled.call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
  };
  // At the end, so that it includes the functions that V8 has compiled when they were first called.
  process.once('exit', () => {
    for (const {script, source, kept} of added) writeCode(kept, source, script.createCachedData());
  });
}

/** Whether only this user can write to the folder. */
function isPrivate(folder: string): boolean {
  const {uid, mode} = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

function readCode(kept: string, source: number): Buffer | undefined {
  try {
    const bytes = readFileSync(kept);
    const code = bytes.subarray(headBytes);
    return bytes.readUInt32LE(0) === source && bytes.readUInt32LE(4) === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function writeCode(kept: string, source: number, code: Buffer): void {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(source, 0);
  head.writeUInt32LE(crc32(code), 4);
  const unfinished = `${kept}.${String(process.pid)}`;
  try {
    writeFileSync(unfinished, Buffer.concat([head, code]), {mode: 0o600});
    renameSync(unfinished, kept);
  } catch {
    rmSync(unfinished, {force: true});
  }
}
