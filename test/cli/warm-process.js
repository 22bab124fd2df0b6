// Runs commands of the built mycli one after the other, as its parent asks for them, in a process that stays: starting
// Node and loading the modules takes nine tenths of a short command. Everything from the arguments to the exit code is
// the real thing; only the process is played. Starts, ends and plugins' code are tested with processes of their own.
import {EventEmitter} from 'node:events';
import {Readable, Writable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {run} from '../../dist/cli/command/run.js';

const script = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

let events = new EventEmitter();
process.removeAllListeners('warning');
process.on('warning', (warning) => events.emit('warning', warning));
process.on('disconnect', () => process.exit());
process.on('message', async (asked) => process.send(await runCommand(asked)));

async function runCommand({args, root, cwd, env, stdin}) {
  const {
    stdout: {write: writeStdout},
    stderr: {write: writeStderr},
  } = process;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, script, ...args];
  process.exitCode = undefined;
  const [stdout, stderr] = [new Collected(), new Collected()];
  process.stdout.write = (...written) => stdout.write(...written);
  process.stderr.write = (...written) => stderr.write(...written);
  const code = await new Promise((resolve, reject) => {
    const host = createHost({stdin: Readable.from([stdin]), stdout, stderr, end: resolve});
    run(host, root).catch(reject);
  });
  process.stdout.write = writeStdout;
  process.stderr.write = writeStderr;
  return {code, stdout: stdout.text, stderr: stderr.text};
}

/** The process as the command sees it: with streams, listeners and an end of its own. */
function createHost(streams) {
  events = new EventEmitter().on('warning', () => undefined);
  const own = {
    ...streams,
    exit(code) {
      events.emit('exit', code);
      streams.end(own.exitCode ?? code);
    },
  };
  for (const name of ['on', 'once', 'off', 'emit', 'listenerCount', 'removeAllListeners']) {
    own[name] = events[name].bind(events);
  }
  const host = new Proxy(process, {
    get: (target, name) => (Object.hasOwn(own, name) ? own[name] : Reflect.get(target, name)),
    set: (_, name, value) => Reflect.set(own, name, value),
  });
  return host;
}

/** What is written to it, as text. */
class Collected extends Writable {
  #chunks = [];

  get text() {
    return Buffer.concat(this.#chunks).toString();
  }

  _write(chunk, _encoding, done) {
    this.#chunks.push(chunk);
    done();
  }
}
