import {fork, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {createRequire} from 'node:module';
import {mkdir, readdir, rm, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import * as v from 'valibot';
import {asSentence} from '../../text/sentence.js';
import {withoutEscapeSequences} from '../../text/escape-sequences.js';
import {findServer, otherEntries} from '../../projects/build-rows.js';
import {HttpFailure} from '../answer.js';
import type {DeploymentRecord, Store} from '../store/store.js';
import {unpackBundle} from '../upload/unpack-bundle.js';
import {forward, type ForwardedRequest} from './forward.js';
import type {LogLevel} from './log-feed.js';
import {sitePath, type SiteName} from './site-address.js';

/** Milliseconds from SIGTERM to SIGKILL. Less than mycli itself has for its cleanup. */
const patienceMs = 500;
/** Milliseconds to wait for output after the exit: a program that it has started may keep the pipe open. */
const outputMs = 250;
/** Milliseconds to wait for the exit after a connection breaks. */
const endMs = 1000;
/** The lines, and the characters of each, that explain why it has ended. */
const [tailLines, tailWidth] = [40, 200];

/** As Node prints an error that nobody caught, and the carets that it may print before it. */
const [errorLine, caretLine] = [/^\[?\w*(?:Error|Exception)(?: \[\w+\])?: /, /^\s*\^+$/];

interface AppServersOptions {
  readonly store: Store;
  readonly environment: (site: SiteName) => Readonly<Record<string, string>>;
  /** Seconds in which a server must listen, and answer a request. */
  readonly timeoutSeconds: number;
  readonly onWarning: (message: string) => void;
  readonly onOutput: (site: SiteName, line: string, level: LogLevel) => void;
}

/** The servers of the deployed apps, one for each target. Each is started by the first request for it. */
export class AppServers {
  readonly #apps = new Map<string, App>();
  /** Those of earlier deployments have ended. */
  #stopped: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(private readonly options: AppServersOptions) {}

  /**
   * Has the server of a deployment answer, and stops that of an earlier one. Undefined if its bundle has none.
   * @throws HttpFailure 502 with what the server printed if it has crashed, 504 if it takes too long.
   */
  answer(call: ForwardedRequest, deployment: DeploymentRecord): Promise<Response | undefined> {
    return this.#appOf(deployment).answer(call);
  }

  /** Whether the bundle of a deployment has a server. Starts none. */
  async has(deployment: DeploymentRecord): Promise<boolean> {
    return (await this.#appOf(deployment).unpacked()) !== undefined;
  }

  #appOf(deployment: DeploymentRecord): App {
    if (this.#isClosed) throw new HttpFailure(502, 'The local runtime is stopping.');
    const key = sitePath(deployment);
    const latest = this.#apps.get(key);
    // A request may still be for the deployment before.
    if (latest !== undefined && latest.deployment.number >= deployment.number) return latest;
    this.#stopped = Promise.all([this.#stopped, latest?.stop()]);
    const app = new App(deployment, this.options);
    this.#apps.set(key, app);
    return app;
  }

  async stop(site: SiteName): Promise<void> {
    const app = this.#apps.get(sitePath(site));
    this.#apps.delete(sitePath(site));
    await app?.stop();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#stopped, ...[...this.#apps.values()].map((app) => app.stop())]);
  }
}

/** A bundle that was unpacked with all its files into `app`. */
interface UnpackedBundle {
  readonly folder: string;
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface AppProcess {
  readonly port: number;
  /** Why it has ended. */
  readonly ended: Promise<HttpFailure>;
}

const listeningSchema = v.object({port: v.number()});

/** The program of the process: app-program.ts, as `npm run build` makes it. */
const appProgram = path.join(
  path.dirname(createRequire(import.meta.url).resolve('mycli/package.json')),
  ...['dist', 'local-runtime', 'sites', 'app-program.js'],
);

/** The server of one deployment: its files, and its process while there is one. */
class App {
  #unpacked: Promise<UnpackedBundle | undefined> | undefined;
  #process: Promise<AppProcess> | undefined;
  readonly #stopping = new AbortController();

  constructor(
    readonly deployment: DeploymentRecord,
    private readonly options: AppServersOptions,
  ) {}

  unpacked(): Promise<UnpackedBundle | undefined> {
    return (this.#unpacked ??= this.#unpack());
  }

  async answer(call: ForwardedRequest): Promise<Response | undefined> {
    const bundle = await this.unpacked();
    if (bundle === undefined) return undefined;
    const {port, ended} = await (this.#process ??= this.#start(bundle));
    try {
      return await forward(call, {port, timeoutMs: this.options.timeoutSeconds * 1000});
    } catch (error) {
      if (error instanceof HttpFailure) throw error;
      const failure = await Promise.race([ended, delay(endMs, undefined, {ref: false})]);
      throw failure ?? new HttpFailure(502, 'The server of the app closed the connection without an answer.');
    }
  }

  /** Stops the process and removes the files. What cannot be removed is swept by the next runtime. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const process = await this.#process?.catch(() => undefined);
    await process?.ended;
    const bundle = await this.#unpacked?.catch(() => undefined);
    if (bundle) await rm(bundle.folder, {recursive: true, force: true, maxRetries: 3}).catch(() => undefined);
  }

  /** Starts the process, and waits until it listens. @throws HttpFailure 502 if it does not. */
  async #start({folder, entry, environment}: UnpackedBundle): Promise<AppProcess> {
    const {timeoutSeconds, onOutput, onWarning} = this.options;
    const {projectSlug, targetSlug} = this.deployment;
    const variables = this.options.environment(this.deployment);
    const {signal} = this.#stopping;
    const address = {PORT: String(await freePort()), HOST: '127.0.0.1', HOSTNAME: '127.0.0.1'};
    const child = fork(appProgram, [entry], {
      cwd: path.join(folder, 'app'),
      // By default it would inherit the runtime's environment, with its credentials.
      env: {NODE_ENV: 'production', ...environment, ...variables, ...address},
      // A bundle need not have a package.json that names its module type: Node detects that.
      execArgv: ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const tail: string[] = [];
    let [thrown, last] = ['', ''];
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      readLines(stream, (line) => {
        const text = withoutEscapeSequences(line).slice(0, tailWidth);
        tail.push(text);
        if (tail.length > tailLines) tail.shift();
        if (stream === child.stderr && text !== '') {
          if (caretLine.test(last) || errorLine.test(text)) thrown = text;
          last = text;
        }
        onOutput(this.deployment, line, stream === child.stderr ? 'ERROR' : 'INFO');
      });
    }
    const stop = (): void => {
      child.kill();
      setTimeout(() => child.kill('SIGKILL'), patienceMs).unref();
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, {once: true});
    let slowness: string | undefined;
    let unheard = ' before it listened on PORT, and exported no handler';
    const timer = setTimeout(() => {
      slowness = `did not listen on PORT within ${String(timeoutSeconds)} seconds and was stopped`;
      child.kill('SIGKILL');
    }, timeoutSeconds * 1000);
    const listening = new Promise<number>((resolve) => {
      child.on('message', (message) => {
        if (!v.is(listeningSchema, message)) return;
        clearTimeout(timer);
        unheard = '';
        resolve(message.port);
      });
    });
    const ended = endOf(child).then((how) => {
      clearTimeout(timer);
      this.#process = undefined;
      const ending = how.endsWith('exit code 0') ? `${how}${unheard}` : how;
      // Node prints its version last if an error that nobody caught has ended it.
      const reason = slowness ?? (last.startsWith('Node.js v') && thrown !== '' ? `${ending}: ${thrown}` : ending);
      const summary = asSentence(`The server of ${projectSlug}/${targetSlug} ${reason}`);
      if (!signal.aborted) onWarning(summary);
      const printed = tail.length === 0 ? [] : ['', 'What it printed last:', '', ...tail];
      return new HttpFailure(502, [`${summary} The next request starts it again.`, ...printed].join('\n'));
    });
    const outcome = await Promise.race([listening, ended]);
    if (outcome instanceof HttpFailure) throw outcome;
    return {port: outcome, ended};
  }

  async #unpack(): Promise<UnpackedBundle | undefined> {
    const {store} = this.options;
    const {bundleId} = this.deployment;
    const folder = await store.createTemporaryFolder();
    try {
      const cwd = path.join(folder, 'app');
      await mkdir(cwd, {mode: 0o700});
      // So that no package.json above the data folder decides the module type of the bundle.
      await writeFile(path.join(folder, 'package.json'), '{}\n', {mode: 0o600});
      const {root} = await store.contents(bundleId);
      await unpackBundle(store.archivePath(bundleId), {root, folder: cwd});
      const server = await findServer(cwd);
      const names = await readdir(cwd);
      const entry = server?.entry ?? otherEntries.find((name) => names.includes(name));
      if (entry !== undefined) {
        const {environment = {}, linkToBuild} = server?.framework ?? {};
        if (linkToBuild !== undefined) await symlink('.', path.join(cwd, linkToBuild)).catch(() => undefined);
        return {folder, entry: path.join(cwd, entry), environment};
      }
    } catch (error) {
      this.#unpacked = undefined;
      await rm(folder, {recursive: true, force: true});
      throw error;
    }
    await rm(folder, {recursive: true, force: true});
    return undefined;
  }
}

/** Characters after which a line that has not ended is passed on: output may have no line breaks at all. */
const maxLine = 64 * 1024;

function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    // A line feed may follow a return in the next piece.
    const lines = `${rest}${text}`.split(/\r?\n|\r(?!$)/);
    rest = lines.at(-1) ?? '';
    if (rest.length >= maxLine) rest = '';
    else lines.pop();
    lines.forEach(onLine);
  });
  stream.once('close', () => {
    if (rest !== '') onLine(rest.replace(/\r$/, ''));
  });
}

/** Waits until a process has ended and its output is complete. How it has ended, or why it could not be started. */
async function endOf(child: ChildProcess): Promise<string> {
  const closed = once(child, 'close').catch(() => undefined);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    await Promise.race([closed, delay(outputMs)]);
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    return signal === null ? `ended with exit code ${String(code)}` : `ended with signal ${signal}`;
  } catch (error) {
    return `could not be started: ${String(error)}`;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
