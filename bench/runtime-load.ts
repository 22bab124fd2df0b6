// npx jiti bench/runtime-load.ts [--uploads 200] [--megabytes 50] [--in-flight 200] [--format v2|v2-gzip|v1]
//   [--rate 2000] [--seconds 60] [--connections 50] [--profile FOLDER]
//
// Loads `runtime:start` in a process of its own: first with uploads, each of which is downloaded again and compared,
// then with requests for static files at a fixed rate. Prints what the runtime used, apart from what this script did.
import {createHash, randomBytes} from 'node:crypto';
import {mkdtemp, rm} from 'node:fs/promises';
import {Agent} from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {gzipSync} from 'node:zlib';
import {pack} from 'tar-stream';
import {connect, cut, makeArchive, parse, send, v1Body, v2Body, type SendOptions} from './runtime-client.js';
import {startRuntimeProcess, usageOf, type RuntimeProcess} from './runtime-process.js';

const {values} = parseArgs({
  options: {
    uploads: {type: 'string', default: '200'},
    megabytes: {type: 'string', default: '50'},
    'in-flight': {type: 'string', default: '200'},
    format: {type: 'string', default: 'v2'},
    rate: {type: 'string', default: '2000'},
    seconds: {type: 'string', default: '60'},
    connections: {type: 'string', default: '50'},
    profile: {type: 'string'},
  },
});
const [uploads, megabytes, inFlight] = [values.uploads, values.megabytes, values['in-flight']].map(Number) as [
  number,
  number,
  number,
];
const [rate, seconds, connections] = [values.rate, values.seconds, values.connections].map(Number) as [
  number,
  number,
  number,
];
const MB = 1_000_000;

/** What the runtime used while `work` ran, and this process. */
async function measure<T>({pid}: RuntimeProcess, work: () => Promise<T>) {
  const [before, own, began] = [await usageOf(pid), process.cpuUsage(), performance.now()];
  const samples: number[] = [];
  const sampling = setInterval(() => {
    void usageOf(pid).then(({residentMiB}) => samples.push(residentMiB));
  }, 250);
  try {
    const result = await work();
    const [after, {user, system}] = [await usageOf(pid), process.cpuUsage(own)];
    const third = Math.ceil(samples.length / 3);
    const mean = (part: readonly number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
    const used = {
      seconds: (performance.now() - began) / 1000,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      ownCpuSeconds: (user + system) / 1e6,
      residentMiB: {
        before: before.residentMiB,
        most: Math.max(...samples, after.residentMiB),
        firstThird: mean(samples.slice(0, third)),
        lastThird: mean(samples.slice(-third)),
      },
    };
    return {result, used};
  } finally {
    clearInterval(sampling);
  }
}

/** Calls `work` for each number below `count`, some at a time. */
async function each(count: number, atATime: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({length: atATime}, worker));
}

/** An upload: its body, and the digest of the archive in it. */
interface Upload {
  readonly body: Pick<SendOptions, 'headers' | 'pieces'>;
  readonly digest: string;
}

/**
 * Makes uploads whose archives are all different and share their bytes in memory: noise, which nothing compresses, and
 * at the end a file with their number. Compressed ones are all the same, of text that becomes half as large.
 */
async function uploadMaker(): Promise<(index: number) => Promise<Upload>> {
  const noise = values.format === 'v2-gzip' ? Buffer.from(randomBytes(MB / 2).toString('hex')) : randomBytes(MB);
  const archive = pack();
  const root = values.format === 'v1' ? 'load/bld' : 'bld';
  archive.entry({name: `${root}/ssr.js`}, '');
  archive.entry(
    {name: `${root}/.runtime/config.json`},
    '{"ssrOnly": ["ssr.js"], "ssrShared": [], "ssrParameters": {}}',
  );
  const large = archive.entry({name: `${root}/static/large.bin`, size: megabytes * MB});
  for (let count = 1; count < megabytes; count++) large.write(noise);
  large.end(noise);
  const shared: Buffer[] = [];
  archive.on('data', (piece) => {
    if (Buffer.isBuffer(piece)) shared.push(piece);
  });
  await delay(0);
  const hash = createHash('sha256');
  for (const piece of shared) hash.update(piece);
  let compressed: Buffer | undefined;
  return async (index) => {
    const end = pack();
    end.entry({name: `${root}/static/number.txt`}, String(index));
    end.finalize();
    const last: Buffer[] = [];
    for await (const piece of end) last.push(piece as Buffer);
    const pieces = [...shared, ...last];
    if (values.format === 'v2') {
      const digest = hash.copy();
      for (const piece of last) digest.update(piece);
      return {body: v2Body(`load ${String(index)}`, pieces), digest: digest.digest('hex')};
    }
    compressed ??= values.format === 'v1' ? undefined : gzipSync(Buffer.concat(pieces), {level: 1});
    const bytes = compressed ?? Buffer.concat(pieces);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const message = `load ${String(index)}`;
    return {body: values.format === 'v1' ? v1Body(message, bytes) : v2Body(message, cut(bytes)), digest};
  };
}

async function loadWithUploads(runtime: RuntimeProcess): Promise<void> {
  const {legacy} = await connect(runtime);
  const make = await uploadMaker();
  const accepted: {readonly id: number; readonly digest: string}[] = [];
  const route = values.format === 'v1' ? 'projects/load/builds/' : 'v2/projects/load/bundles/';
  const {used} = await measure(runtime, () =>
    each(uploads, inFlight, async (index) => {
      const {body, digest} = await make(index);
      const headers = {...legacy.headers, ...body.headers};
      const reply = await send('POST', `${legacy.base}/${route}`, {...body, headers});
      const {id, bundle_id} = parse(reply) as {readonly id?: number; readonly bundle_id?: number};
      accepted.push({id: id ?? bundle_id ?? 0, digest});
    }),
  );
  console.log(
    `${String(uploads)} uploads of ${String(megabytes)} MB (${values.format}), ${String(inFlight)} at a time:`,
    JSON.stringify({...used, cpuMsPerMB: (used.cpuSeconds * 1000) / (uploads * megabytes)}),
  );
  let wrong = 0;
  const downloads = await measure(runtime, () =>
    each(accepted.length, 4, async (index) => {
      const {id, digest} = accepted[index] ?? {id: 0, digest: ''};
      const url = `${legacy.base}/projects/load/bundles/${String(id)}`;
      const link = parse(await send('GET', `${url}/download/`, legacy)) as {readonly download_url: string};
      const {body} = await send('GET', link.download_url);
      if (createHash('sha256').update(body).digest('hex') !== digest) wrong += 1;
      await send('DELETE', `${url}/`, legacy);
    }),
  );
  console.log(
    `${String(accepted.length)} downloads, ${String(wrong)} wrong:`,
    JSON.stringify({...downloads.used, cpuMsPerMB: (downloads.used.cpuSeconds * 1000) / (uploads * megabytes)}),
  );
  if (wrong > 0 || accepted.length !== uploads) process.exitCode = 1;
}

/** Files of a small app, 1 kB to 60 kB. */
const files = {
  'static/index.html': randomBytes(500),
  'static/app.js': randomBytes(15_000),
  'static/style.css': randomBytes(4000),
  'static/logo.svg': randomBytes(1000),
  'static/photo.jpg': randomBytes(30_000),
};

async function loadWithRequests(runtime: RuntimeProcess): Promise<void> {
  const {legacy} = await connect(runtime);
  const texts = Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes.toString('hex'))] as const);
  const archive = await makeArchive('v2', 'app', Object.fromEntries(texts));
  const upload = v2Body('app', [archive]);
  const pushed = await send('POST', `${legacy.base}/v2/projects/app/bundles/`, {
    ...upload,
    headers: {...legacy.headers, ...upload.headers},
  });
  const {id} = parse(pushed) as {readonly id: number};
  const target = `${legacy.base}/projects/app/target/production`;
  const deployed = await send('POST', `${target}/deploy/`, {
    headers: {...legacy.headers, 'content-type': 'application/json'},
    pieces: [Buffer.from(JSON.stringify({bundle_id: id}))],
  });
  parse(deployed);
  const {url} = parse(await send('GET', `${target}/`, legacy)) as {readonly url: string};
  const agent = new Agent({keepAlive: true, maxSockets: connections});
  const total = rate * seconds;
  const tally = {right: 0, wrong: 0, broken: 0};
  const milliseconds: number[] = [];
  const ask = async (index: number): Promise<void> => {
    const [name, bytes] = texts[index % texts.length] ?? ['', Buffer.alloc(0)];
    const began = performance.now();
    try {
      const {status, body} = await send('GET', new URL(name, url).href, {agent});
      tally[status === 200 && body.equals(bytes) ? 'right' : 'wrong'] += 1;
    } catch {
      tally.broken += 1;
    }
    milliseconds.push(performance.now() - began);
  };
  const {used} = await measure(runtime, async () => {
    const asked: Promise<void>[] = [];
    const began = performance.now();
    // As many as are due by now, whether earlier ones were answered or not.
    while (asked.length < total) {
      const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * rate));
      while (asked.length < due) asked.push(ask(asked.length));
      await delay(2);
    }
    await Promise.all(asked);
  });
  agent.destroy();
  milliseconds.sort((a, b) => a - b);
  const quantile = (share: number): number => milliseconds[Math.floor((milliseconds.length - 1) * share)] ?? NaN;
  console.log(
    `${String(total)} requests of static files at ${String(rate)} a second, ${String(connections)} connections:`,
    JSON.stringify({
      ...tally,
      ...used,
      cpuMsPerRequest: (used.cpuSeconds * 1000) / total,
      milliseconds: {median: quantile(0.5), p99: quantile(0.99), most: quantile(1)},
    }),
  );
  if (tally.right !== total) process.exitCode = 1;
}

const folder = await mkdtemp(path.join(tmpdir(), 'mycli-load-'));
const nodeOptions = values.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', values.profile];
const runtime = await startRuntimeProcess(['--data', folder, '--deployment-seconds', '0'], {nodeOptions});
if (!runtime) throw new Error('The runtime was killed.');
try {
  if (uploads > 0) await loadWithUploads(runtime);
  if (seconds > 0) await loadWithRequests(runtime);
  console.log('The most memory that the runtime used, MiB:', (await usageOf(runtime.pid)).peakMiB);
} finally {
  await runtime.stop();
  await rm(folder, {recursive: true, force: true});
}
