import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createServer, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';

const modules = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'dav', 'dav_fs'];
const username = 'publisher';
const password = 'correct-horse-battery-staple';

/** The credentials that the server accepts, as variables. */
export const env = {WEBDAV_USERNAME: username, WEBDAV_PASSWORD: password};
/** The form in which they are sent. */
export const basic = Buffer.from(`${username}:${password}`).toString('base64');

/** A real Apache with mod_dav on this machine. */
export interface Apache extends AsyncDisposable {
  readonly url: string;
  /** The folder that it serves. */
  readonly files: string;
}

/** Starts one with a configuration of its own, as the user of the tests. As root, it has to serve as another. */
export async function startApache(): Promise<Apache> {
  const base = await mkdtemp(join(tmpdir(), 'mycli-webdav-'));
  const files = join(base, 'files');
  const state = join(base, 'state');
  await mkdir(files);
  await mkdir(state);
  await chmod(base, 0o755);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const [, uid = '', gid = ''] = /^www-data:[^:]*:(\d+):(\d+)/m.exec(await readFile('/etc/passwd', 'utf8')) ?? [];
    for (const folder of [files, state]) await chown(folder, Number(uid), Number(gid));
  }
  const digest = createHash('sha1').update(password).digest('base64');
  await writeFile(join(base, 'users'), `${username}:{SHA}${digest}\n`);
  const port = await freePort();
  const config = join(base, 'apache.conf');
  await writeFile(
    config,
    `${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
ServerRoot ${base}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
${isRoot ? 'User www-data\nGroup www-data' : ''}
PidFile ${base}/pid
DefaultRuntimeDir ${state}
ErrorLog ${base}/error.log
StartServers 1
DavLockDB ${state}/locks
DocumentRoot ${files}
<Directory ${files}>
  Dav On
  AuthType Basic
  AuthName webdav
  AuthUserFile ${base}/users
  Require valid-user
</Directory>
`,
  );
  // It ends with the input, so that it does not outlive a test that is killed.
  const script = 'apache2 -D FOREGROUND -f "$0" & server=$!; cat; kill $server; wait $server';
  const child = spawn('sh', ['-c', script, config], {stdio: ['pipe', 'ignore', 'inherit']});
  const url = `http://127.0.0.1:${port}`;
  while ((await fetch(url).catch(() => undefined)) === undefined) await delay(20);
  return {
    url,
    files,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, 'close');
      await rm(base, {recursive: true});
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const {port} = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** The entries of a folder; none if it does not exist. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
