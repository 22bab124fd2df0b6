import {spawn} from 'node:child_process';
import {constants} from 'node:fs';
import {access, stat} from 'node:fs/promises';
import {delimiter, isAbsolute, join, sep} from 'node:path';
import {text} from 'node:stream/consumers';
import {createError} from '../../errors/index.js';
import {asClause, asSentence} from '../../errors/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import type {Environment} from '../../http/types.js';

/** The keychain of the operating system. Its members reject when it fails or does not answer in time. */
export interface Keychain {
  /** What people call it. */
  readonly name: string;
  /** The secret of an account; undefined when it has none. */
  read(account: string): Promise<string | undefined>;
  write(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
}

/** Where a keychain is looked for. */
export interface KeychainPlace {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** Longest wait for its program, milliseconds: somebody may have to unlock it. @default 15000 */
  readonly timeoutMs?: number | undefined;
}

/** The name that all entries of ours have. */
const service = 'mycli';
const standardTimeoutMs = 15_000;

/**
 * The keychain that the platform's own program reaches: `security` of macOS, or `secret-tool` where there is a session
 * bus. None elsewhere.
 */
export async function findKeychain({
  env,
  platform,
  timeoutMs = standardTimeoutMs,
}: KeychainPlace): Promise<Keychain | undefined> {
  const run = async (name: string) => {
    const path = await findInPath(name, env);
    return path === undefined
      ? undefined
      : (args: readonly string[], input = '') => runProgram(path, args, {input, env, timeoutMs});
  };
  if (platform === 'darwin') {
    const security = await run('security');
    return security && macKeychain(security);
  }
  if (platform !== 'linux' || !(await hasSessionBus(env))) return undefined;
  const secretTool = await run('secret-tool');
  return secretTool && secretService(secretTool);
}

type Run = (args: readonly string[], input?: string) => Promise<Ended>;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
}

/** libsecret's program, for GNOME Keyring, KWallet and others. It reads the secret from stdin. */
function secretService(run: Run): Keychain {
  const attributes = (account: string) => ['service', service, 'account', account];
  return {
    name: 'the keychain (secret-tool)',
    async read(account) {
      const {code, stdout} = await run(['lookup', ...attributes(account)]);
      // It exits with 1 for what is not there and for what it cannot reach alike.
      return code === 0 && stdout !== '' ? stdout.replace(/\n$/, '') : undefined;
    },
    async write(account, secret) {
      const {code} = await run(['store', '--label', `${service}: ${account}`, ...attributes(account)], secret);
      if (code !== 0) throw failed('secret-tool', code);
    },
    async remove(account) {
      await run(['clear', ...attributes(account)]);
    },
  };
}

/** macOS: `security -i` reads its command, with the secret in it, from stdin. */
function macKeychain(run: Run): Keychain {
  return {
    name: 'the keychain',
    async read(account) {
      const {code, stdout} = await run(['find-generic-password', '-s', service, '-a', account, '-w']);
      const encoded = stdout.trim();
      return code === 0 && encoded !== '' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
    },
    async write(account, secret) {
      // Encoded, so that nothing in it ends the command or is shown as hex.
      const encoded = Buffer.from(secret).toString('base64');
      const {code} = await run(['-i'], `add-generic-password -U -s ${service} -a "${account}" -w ${encoded}\n`);
      if (code !== 0) throw failed('security', code);
    },
    async remove(account) {
      await run(['delete-generic-password', '-s', service, '-a', account]);
    },
  };
}

function failed(program: string, code: number | null): Error {
  return createError('ERR_OUTPUT', `${program} exited with ${String(code)}.`);
}

async function hasSessionBus(env: Environment): Promise<boolean> {
  if ((env['DBUS_SESSION_BUS_ADDRESS'] ?? '') !== '') return true;
  const folder = env['XDG_RUNTIME_DIR'] ?? '';
  return folder !== '' && (await stat(join(folder, 'bus')).catch(() => undefined))?.isSocket() === true;
}

/** The path of a program, but of none that a package has put in PATH: npm scripts run with the bins of a checkout. */
async function findInPath(name: string, env: Environment): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (!isAbsolute(folder) || folder.split(sep).includes('node_modules')) continue;
    const path = join(folder, name);
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return path;
  }
  return undefined;
}

/** What such a program needs; the rest of the environment may hold secrets. */
const passedOn = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TMPDIR'],
  ...['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY'],
];

interface RunOptions {
  readonly input: string;
  readonly env: Environment;
  readonly timeoutMs: number;
}

/** Runs a program with a text on its stdin. @throws RuntimeCliError `ERR_TIMEOUT` when it does not end in time. */
async function runProgram(path: string, args: readonly string[], {input, env, timeoutMs}: RunOptions): Promise<Ended> {
  const child = spawn(path, args, {
    env: Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      // What it has started may still hold its output.
      child.stdout.destroy();
      reject(createError('ERR_TIMEOUT', `${path} did not answer within ${String(timeoutMs / 1000)} s.`));
    }, timeoutMs);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // It may end without reading.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const output = text(child.stdout);
  output.catch(() => undefined);
  try {
    const code = await Promise.race([ended, late]);
    return {code, stdout: await output};
  } finally {
    clearTimeout(timer);
  }
}

/** The variable that chooses where secrets are stored: `auto`, `keychain` or `file`. */
const storeVariable = 'MYCLI_CREDENTIAL_STORE';

/** What secrets are stored with. */
export interface SecretStore extends KeychainPlace {
  readonly warn: (message: string) => void;
}

/**
 * Stores the secret of an account in the keychain. Returns false if it belongs into the file: there is no keychain, it
 * fails or does not answer (a warning says so), or the file was chosen.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` for an unknown store, `ERR_OUTPUT` if the keychain was chosen and fails.
 */
export async function storeInKeychain(store: SecretStore, account: string, secret: string): Promise<boolean> {
  const chosen = store.env[storeVariable]?.trim() || 'auto';
  if (!['auto', 'keychain', 'file'].includes(chosen)) {
    throw createError('ERR_OPTION_INVALID', `${storeVariable} must be auto, keychain or file.`);
  }
  if (chosen === 'file') return false;
  const keychain = await findKeychain(store);
  if (keychain === undefined && chosen === 'auto') return false;
  const reason = keychain === undefined ? 'none was found' : await failureOf(keychain, account, secret);
  if (reason === undefined) return true;
  if (chosen === 'keychain') {
    throw createError('ERR_OUTPUT', asSentence(`The secret cannot be stored in the keychain: ${reason}`), {
      suggestions: [`Set ${storeVariable}=file to store it in a file that only you can read.`],
    });
  }
  store.warn(asSentence(`The keychain cannot be used, so the secret is stored in a file: ${reason}`));
  return false;
}

/** Why a secret is not in the keychain after it was written there. */
async function failureOf(keychain: Keychain, account: string, secret: string): Promise<string | undefined> {
  try {
    await keychain.write(account, secret);
    // Its program may end well and have stored nothing.
    return (await keychain.read(account)) === secret ? undefined : 'it does not return what was stored';
  } catch (error) {
    return asClause(reasonOf(error));
  }
}

/** The secret of an account in the keychain. A warning says why there is none. */
export async function readFromKeychain(store: SecretStore, account: string): Promise<string | undefined> {
  const reason = await findKeychain(store)
    .then(async (keychain) => {
      const secret = await keychain?.read(account);
      return secret === undefined ? 'it was not found' : {secret};
    })
    .catch((error: unknown) => asClause(reasonOf(error)));
  if (typeof reason === 'object') return reason.secret;
  store.warn(`The secret stored in the keychain for ${account} cannot be read: ${reason}. Run mycli auth:login again.`);
  return undefined;
}

/** Removes the secret of an account from the keychain. A warning says if it may still be there. */
export async function removeFromKeychain(store: SecretStore, account: string): Promise<void> {
  const left = await findKeychain(store)
    .then(async (keychain) => {
      await keychain?.remove(account);
      return keychain === undefined || (await keychain.read(account)) !== undefined;
    })
    .catch(() => true);
  if (left) store.warn(`The secret for ${account} may still be in the keychain.`);
}
