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
/** A file of ours that this process has loaded. */
interface LoadedScript {
  readonly script: Script;
  /** Checksum of the file. */
  readonly source: number;
  /** The file with its code. */
  readonly kept: string;
  /** Size of the code that V8 has used. Undefined if there was none that it could use. */
  readonly keptBytes?: number;
}
/** What the code of a CommonJS module is wrapped in. */
type Wrapper = (exports: unknown, require: unknown, module: unknown, filename: string, dirname: string) => unknown;

/** Bytes before the code in a file of the cache: checksums of the source and of the code. */
const headBytes = 8;
/** The file that calls `import()` for all others: on Node 20, that fails in code that comes from a cache. */
const importModuleFile = 'import-module.cjs';
/** The end of the name of a file that is being written. */
const unfinishedName = /\.\d+$/;
/** Lists the kinds of command lines whose functions the cache has: checksums of 8 hexadecimal digits. */
const kindsName = 'kinds';
/** Maximum number of kinds. Later ones add nothing, and compile what they alone need each time. */
const mostKinds = 100;
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
 * @param args The command line. The first of each kind adds the functions that it has called.
 */
export function keepCode(dist: string, folder: string, args: readonly string[]): void {
  const extensions = Reflect.get(nodeModule, '_extensions') as Record<string, Load | undefined>;
  // Another hook's, such as that of a module in NODE_OPTIONS.
  const former = extensions['.cjs'];
  const loaded: LoadedScript[] = [];
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
    const isUsed = cachedData !== undefined && script.cachedDataRejected !== true;
    loaded.push({script, source, kept, ...(isUsed && {keptBytes: cachedData.length})});
    const compiled = script.runInThisContext() as Wrapper;
    compiled.call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
  };
  // Not enumerable: for a name without an extension, Node tries each one that is enumerable.
  Object.defineProperty(extensions, '.cjs', {value: load, writable: true, configurable: true});
  // At the end, so that it includes the functions that V8 has compiled when they were first called.
  process.once('exit', (code) => {
    try {
      keepLoaded(loaded, folder, code === 0 ? kindOf(loaded, args) : undefined);
    } catch {
      // The disk may be full. The next command compiles the files again.
    }
  });
}

/**
 * Keeps the code of files that had none, and, when a new kind of command line has run, of all others.
 * @param kind Undefined for a command that failed, which may not have come far.
 */
function keepLoaded(loaded: readonly LoadedScript[], folder: string, kind: string | undefined): void {
  const isOutdated = loaded.some(({keptBytes, kept}) => keptBytes === undefined && existsSync(kept));
  const kinds = isOutdated ? [] : readKinds(folder);
  const added = kind === undefined || kinds.includes(kind) || kinds.length >= mostKinds ? [] : [kind];
  const changed = loaded.filter(({keptBytes}) => added.length > 0 || keptBytes === undefined);
  if (changed.length === 0) return;
  removeUnfinished(folder);
  for (const {script, source, kept, keptBytes = 0} of changed) {
    const code = script.createCachedData();
    // In a long run, V8 discards functions.
    if (code.length > keptBytes) writeCode(kept, source, code);
  }
  if (isOutdated || added.length > 0)
    writeKept(join(folder, kindsName), [Buffer.from([...kinds, ...added].join('\n'))]);
}

/** The kind of a command line, as a checksum: our files that it loads, and its options without their values. */
function kindOf(loaded: readonly LoadedScript[], args: readonly string[]): string {
  const end = args.indexOf('--');
  const options = (end < 0 ? args : args.slice(0, end)).flatMap((arg) => /^(?:--[^=]+|-\w)/.exec(arg) ?? []);
  const words = [...loaded.map(({kept}) => basename(kept)), ...new Set(options.sort())];
  return crc32(words.join(' ')).toString(16).padStart(8, '0');
}

function readKinds(folder: string): readonly string[] {
  const file = join(folder, kindsName);
  const lines = existsSync(file) ? readFileSync(file, 'latin1').split('\n') : [];
  return lines.filter((line) => /^[\da-f]{8}$/.test(line));
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
  writeKept(kept, [head, code]);
}

/** Writes a file of the cache as a whole. */
function writeKept(file: string, content: readonly Buffer[]): void {
  const unfinished = `${file}.${String(process.pid)}`;
  try {
    writeFileSync(unfinished, Buffer.concat(content), {mode: 0o600});
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, {force: true});
    throw error;
  }
}
