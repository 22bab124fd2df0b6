import {isAscii} from 'node:buffer';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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
/** The end of the name of a file that is being written. */
const unfinishedName = /\.code\.\d+$/;
/** A file that has been unfinished for longer was left by a process that was killed. */
const unfinishedMilliseconds = 60_000;

/**
 * Makes a folder for compiled code, if it is missing. Returns its path without symlinks, or undefined if another user
 * (except root) can write to it or replace it: whoever can do that decides what runs here.
 * @param path Absolute.
 * @param uid ID of the user, if the platform has one.
 */
export function privateFolder(path: string, uid: number | undefined): string | undefined {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  if (!isSafe(realpathSync(existing), uid)) return undefined;
  mkdirSync(path, {recursive: true, mode: 0o700});
  const folder = realpathSync(path);
  const isOpen = uid !== undefined && (statSync(folder).mode & 0o022) !== 0;
  return isOpen || !isSafe(folder, uid) ? undefined : folder;
}

/** Whether only this user and root can replace the folder. */
function isSafe(folder: string, uid: number | undefined): boolean {
  if (uid === undefined) return true;
  const {uid: owner, mode} = statSync(folder);
  // In a sticky folder such as /tmp, nobody can replace what belongs to another user.
  const isOwn = (owner === uid || owner === 0) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0);
  return isOwn && (dirname(folder) === folder || isSafe(dirname(folder), uid));
}

/**
 * Does for Node 20 what `enableCompileCache` does in newer ones: keeps the code that V8 has compiled of each of our
 * `.cjs` files, and hands it back to V8 in the next process. V8 refuses code that another version of it has compiled. A
 * file whose code cannot be read or written is compiled as always.
 * @param dist The folder of our files.
 * @param folder Where to keep the code; private.
 */
export function keepCode(dist: string, folder: string): void {
  const extensions = Reflect.get(nodeModule, '_extensions') as Record<string, Load | undefined>;
  // Another hook's, such as that of a module in NODE_OPTIONS.
  const former = extensions['.cjs'];
  const added: {readonly script: Script; readonly source: number; readonly kept: string}[] = [];
  const load: Load = (module, file) => {
    if (!file.startsWith(dist + sep) || basename(file) === importModuleFile) {
      return (former ?? extensions['.js'])?.(module, file);
    }
    const bytes = readFileSync(file);
    const source = crc32(bytes);
    const kept = join(folder, `${file.slice(dist.length + 1).replaceAll(sep, '-')}.code`);
    const cachedData = readCode(kept, source);
    // ASCII takes half the memory and a third of the time this way. Hardly any of our files has anything else.
    const text = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
    const script = new Script(nodeModule.wrap(text), {filename: file, cachedData});
    if (cachedData === undefined || script.cachedDataRejected === true) added.push({script, source, kept});
    const compiled = script.runInThisContext() as Wrapper;
    compiled.call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
  };
  // Not enumerable: for a name without an extension, Node tries each one that is enumerable.
  Object.defineProperty(extensions, '.cjs', {value: load, writable: true, configurable: true});
  // At the end, so that it includes the functions that V8 has compiled when they were first called.
  process.once('exit', () => {
    if (added.length === 0) return;
    try {
      removeUnfinished(folder);
      for (const {script, source, kept} of added) writeCode(kept, source, script.createCachedData());
    } catch {
      // The disk may be full. The next command compiles the files again.
    }
  });
}

/** Removes what killed processes have left. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => unfinishedName.test(entry))) {
    const file = join(folder, name);
    const {mtimeMs = Infinity} = lstatSync(file, {throwIfNoEntry: false}) ?? {};
    if (mtimeMs < Date.now() - unfinishedMilliseconds) rmSync(file, {force: true});
  }
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
  } catch (error) {
    rmSync(unfinished, {force: true});
    throw error;
  }
}
