// npx jiti bench/kill-runtime.ts [--rounds 100] [--seed N] [--clients 4] [--operations 8]
//
// Kills `runtime:start` with SIGKILL while clients push, deploy and delete, starts it again on the same data folder,
// and checks that everything acknowledged is there and nothing half-written is.
import {randomInt} from 'node:crypto';
import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {Agent} from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {connect, cut, makeArchive, parse, random, send, sha256, v1Body, v2Body, type Reply} from './runtime-client.js';
import {startRuntimeProcess, type RuntimeProcess} from './runtime-process.js';

const {values} = parseArgs({
  options: {
    rounds: {type: 'string', default: '100'},
    seed: {type: 'string', default: String(randomInt(1_000_000))},
    clients: {type: 'string', default: '4'},
    operations: {type: 'string', default: '8'},
  },
});
const [rounds, seed, clients, operations] = [values.rounds, values.seed, values.clients, values.operations].map(
  Number,
) as [number, number, number, number];

const projects = ['shop', 'blog'] as const;
const targets = ['staging', 'production'] as const;

/** Something that may have happened: it was asked for, and answered with success or not at all. */
type Certainty = 'no' | 'perhaps' | 'yes';

/** An upload, found again by its message. */
interface Push {
  readonly project: string;
  readonly message: string;
  readonly archiveDigest: string;
  readonly contentDigest: string;
  accepted: Certainty;
  deleted: Certainty;
  id: number | undefined;
}

/** A deployment that was acknowledged. */
interface Deployment {
  readonly project: string;
  readonly target: string;
  readonly push: Push;
}

type Connection = Awaited<ReturnType<typeof connect>>;
/** When the runtime is killed. */
type Moment = {readonly bytes: number} | {readonly answers: number} | {readonly call: string};

const next = random(seed);
const below = (limit: number): number => Math.floor(next() * limit);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

const pushes: Push[] = [];
const deployments: Deployment[] = [];
/** The variables that were acknowledged, of which every client sets its own: `shop staging R1_0_3`. */
const variables = new Set<string>();
const problems: string[] = [];
const tally = {acknowledged: 0, unanswered: 0, downloads: 0, sites: 0, killedAtStart: 0, slowestStart: 0};
const moments: Record<string, number> = {};

/** A round has about 200 calls that change something. */
function chooseMoment(): Moment {
  switch (below(3)) {
    case 0:
      return {bytes: below(6_000_000)};
    case 1:
      return {answers: 1 + below(clients * operations)};
    default:
      return {call: `* ${String(1 + below(200))} ${pick(['before', 'during', 'after'])}`};
  }
}

/** Clients at work on a runtime until it is killed. */
class Round {
  readonly #runtime: RuntimeProcess;
  readonly #connection: Connection;
  readonly #moment: Moment;
  readonly #agent = new Agent({keepAlive: true});
  #bytes = 0;
  #answers = 0;

  constructor(runtime: RuntimeProcess, connection: Connection, moment: Moment) {
    this.#runtime = runtime;
    this.#connection = connection;
    this.#moment = moment;
  }

  async run(name: string): Promise<void> {
    const client = async (index: number): Promise<void> => {
      for (let operation = 0; operation < operations; operation++) {
        if (!(await this.#operate(`${name}-${String(index)}-${String(operation)}`))) return;
      }
    };
    await Promise.all(Array.from({length: clients}, (_, index) => client(index)));
    this.#runtime.kill();
    await this.#runtime.ended;
    this.#agent.destroy();
  }

  /** Whether the runtime still lives. */
  async #operate(name: string): Promise<boolean> {
    // Several clients change the variables of a target at the same time.
    if (next() < 0.2) return this.#setVariable(name);
    const choice = next();
    const known = pushes.filter(({accepted, deleted}) => accepted === 'yes' && deleted === 'no');
    if (choice < 0.55 || known.length === 0) return this.#push(name, choice);
    // A newer one, most of the time.
    const push = pick(next() < 0.8 ? known.slice(-8) : known);
    return choice < 0.85 ? this.#deploy(push) : this.#delete(push);
  }

  async #push(message: string, choice: number): Promise<boolean> {
    const project = pick(projects);
    const target = choice < 0.1 ? pick(targets) : undefined;
    const format = choice < 0.25 ? 'v1' : 'v2';
    const content = Buffer.alloc(next() < 0.2 ? 1_000_000 + below(3_000_000) : below(200_000), message);
    const files = {'static/id.txt': Buffer.from(message), 'static/content.bin': content};
    const archive = await makeArchive(format, project, files);
    const [archiveDigest, contentDigest] = [sha256(archive), sha256(content)];
    const push: Push = {
      ...{project, message, archiveDigest, contentDigest},
      ...{accepted: 'perhaps', deleted: 'no', id: undefined},
    };
    pushes.push(push);
    const {legacy, api} = this.#connection;
    const isApi = format === 'v2' && next() < 0.5;
    const v1Url = `${legacy.base}/projects/${project}/builds/${target === undefined ? '' : `${target}/`}`;
    const v2Url = isApi ? `${api.base}/${project}/bundles` : `${legacy.base}/v2/projects/${project}/bundles/`;
    const body = format === 'v1' ? v1Body(message, archive) : v2Body(message, cut(archive));
    const reply = await this.#send('POST', format === 'v1' ? v1Url : v2Url, isApi ? api.headers : legacy.headers, body);
    if (!reply) return false;
    if (reply.status === 409) push.accepted = 'no';
    else {
      const {id, bundleId, bundle_id} = parse(reply) as Record<string, number>;
      push.id = id ?? bundleId ?? bundle_id;
      push.accepted = 'yes';
      if (target !== undefined) deployments.push({project, target, push});
    }
    return true;
  }

  async #deploy(push: Push): Promise<boolean> {
    const [{project, id}, target] = [push, pick(targets)];
    const {legacy, api} = this.#connection;
    const reply = await (next() < 0.5
      ? this.#post(`${api.base}/${project}/environments/${target}/deployments`, api.headers, {bundleId: id})
      : this.#post(`${legacy.base}/projects/${project}/target/${target}/deploy/`, legacy.headers, {bundle_id: id}));
    if (reply?.status === 201) deployments.push({project, target, push});
    // Another one is being deployed, or the bundle was deleted.
    else if (reply && ![409, 404].includes(reply.status)) parse(reply);
    return reply !== undefined;
  }

  async #setVariable(name: string): Promise<boolean> {
    const [project, target, variable] = [pick(projects), pick(targets), `V_${name.replaceAll(/\W/g, '_')}`];
    const {base, headers} = this.#connection.legacy;
    const pieces = [Buffer.from(JSON.stringify({[variable]: {value: name}}))];
    const body = {headers: {'content-type': 'application/json'}, pieces};
    const reply = await this.#send('PATCH', `${base}/projects/${project}/target/${target}/env-var/`, headers, body);
    if (reply?.status === 204) variables.add(`${project} ${target} ${variable}`);
    // There is no such target yet, or another deployment to it begins.
    else if (reply && ![404, 409].includes(reply.status)) parse(reply);
    return reply !== undefined;
  }

  async #delete(push: Push): Promise<boolean> {
    const {legacy} = this.#connection;
    const url = `${legacy.base}/projects/${push.project}/bundles`;
    if (push.deleted === 'no') push.deleted = 'perhaps';
    const isBulk = next() < 0.5;
    const reply = await (isBulk
      ? this.#post(`${url}/bulk-delete/`, legacy.headers, {bundle_ids: [push.id]})
      : this.#send('DELETE', `${url}/${String(push.id)}/`, legacy.headers));
    if (!reply) return false;
    const queued = isBulk ? (parse(reply) as {bundles_queued_for_cleanup: number[]}).bundles_queued_for_cleanup : [];
    if ((!isBulk && reply.status === 202) || queued.length > 0) push.deleted = 'yes';
    // A deployment uses it, or another client was faster.
    else if (push.deleted === 'perhaps' && (isBulk || reply.status === 409)) push.deleted = 'no';
    else if (!isBulk && reply.status !== 404) parse(reply);
    return true;
  }

  #post(url: string, headers: Readonly<Record<string, string>>, value: unknown): Promise<Reply | undefined> {
    const pieces = [Buffer.from(JSON.stringify(value))];
    return this.#send('POST', url, headers, {headers: {'content-type': 'application/json'}, pieces});
  }

  /** Undefined if the runtime was killed before it answered. */
  async #send(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: ReturnType<typeof v1Body> = {},
  ): Promise<Reply | undefined> {
    const onPiece = (piece: Buffer): void => {
      this.#bytes += piece.length;
      if ('bytes' in this.#moment && this.#bytes > this.#moment.bytes) this.#runtime.kill();
    };
    const options = {...body, headers: {...headers, ...body.headers}, agent: this.#agent, onPiece};
    const reply = await send(method, url, options).catch(() => undefined);
    if (!reply) {
      tally.unanswered += 1;
      // Unless it was killed, losing the connection is a finding of its own.
      await this.#runtime.ended;
      return undefined;
    }
    if (reply.status < 300) tally.acknowledged += 1;
    this.#answers += 1;
    if ('answers' in this.#moment && this.#answers === this.#moment.answers) this.#runtime.kill();
    return reply;
  }
}

/** Compares what a restarted runtime shows, and what is on its disk, with what was acknowledged. */
class Check {
  readonly #connection: Connection;
  readonly #folder: string;
  readonly #since: number;
  readonly #round: string;

  /** @param since Pushes from this one on are downloaded, of others some. */
  constructor(connection: Connection, folder: string, since: number, round: string) {
    this.#connection = connection;
    this.#folder = folder;
    this.#since = since;
    this.#round = round;
  }

  async run(): Promise<void> {
    for (const project of projects) {
      const shown = await this.#bundles(project);
      const own = pushes.filter((push) => push.project === project);
      const byMessage = new Map(own.map((push) => [push.message, push]));
      for (const {id, message} of shown) {
        const push = byMessage.get(message);
        if (!push || push.accepted === 'no')
          this.#report(`${project} shows bundle ${String(id)}, "${message}", which it refused`);
        else if (push.deleted === 'yes') this.#report(`bundle ${String(id)} is there, which was deleted`);
        else if (push.id !== undefined && push.id !== id) this.#report(`"${message}" has another ID than acknowledged`);
        else {
          // What may have been is known now.
          [push.id, push.accepted, push.deleted] = [id, 'yes', 'no'];
          if (pushes.indexOf(push) >= this.#since || next() < 0.02) await this.#download(push);
        }
      }
      const ids = new Set(shown.map(({id}) => id));
      if (ids.size !== shown.length) this.#report(`${project} shows a bundle twice`);
      for (const push of own) {
        if (ids.has(push.id ?? 0)) continue;
        if (push.accepted === 'yes' && push.deleted === 'no') this.#report(`"${push.message}" is lost`);
        if (push.accepted === 'perhaps') push.accepted = 'no';
        if (push.deleted === 'perhaps') push.deleted = 'yes';
      }
      for (const target of targets) await this.#target(project, target, ids);
    }
    await this.#disk();
  }

  async #bundles(project: string): Promise<readonly {readonly id: number; readonly message: string}[]> {
    return this.#list(`projects/${project}/bundles/`);
  }

  async #list<T>(list: string): Promise<readonly T[]> {
    const {base, headers} = this.#connection.legacy;
    const rows: T[] = [];
    for (;;) {
      const url = `${base}/${list}?limit=200&offset=${String(rows.length)}`;
      const page = parse(await send('GET', url, {headers})) as {readonly count: number; readonly results: readonly T[]};
      rows.push(...page.results);
      if (rows.length >= page.count || page.results.length === 0) return rows;
    }
  }

  async #download({project, id, message, archiveDigest}: Push): Promise<void> {
    const {base, headers} = this.#connection.legacy;
    const answer = await send('GET', `${base}/projects/${project}/bundles/${String(id)}/download/`, {headers});
    const {download_url: url} = parse(answer) as {readonly download_url: string};
    const {status, body} = await send('GET', url);
    if (status !== 200 || sha256(body) !== archiveDigest)
      this.#report(`the archive of "${message}" is not what was sent`);
    tally.downloads += 1;
  }

  /** A target serves the newest of its deployments that has finished, and every acknowledged one is in its history. */
  async #target(project: string, target: string, ids: ReadonlySet<number>): Promise<void> {
    const history = await this.#list<{bundle: {id: number}; status: string}>(
      `projects/${project}/target/${target}/deploy/`,
    );
    const place = `projects/${project}/target/${target}/env-var/`;
    // A target that nothing was deployed to does not exist.
    const set = history.length === 0 ? [] : await this.#list<Record<string, unknown>>(place);
    const names = new Set(set.flatMap((row) => Object.keys(row)));
    for (const known of variables) {
      const [ofProject, ofTarget, variable = ''] = known.split(' ');
      if (ofProject === project && ofTarget === target && !names.has(variable))
        this.#report(`the variable ${variable} of ${target} of ${project} is lost`);
    }
    const left = history.map(({bundle}) => bundle.id);
    for (const deployment of deployments) {
      if (deployment.project !== project || deployment.target !== target) continue;
      const at = left.indexOf(deployment.push.id ?? 0);
      if (at === -1) this.#report(`a deployment of "${deployment.push.message}" to ${target} is lost`);
      else left.splice(at, 1);
    }
    const current = history.find(({status}) => status === 'Finished');
    if (current === undefined) return;
    const push = pushes.find((candidate) => candidate.id === current.bundle.id);
    if (!push || !ids.has(current.bundle.id)) {
      this.#report(`${target} serves bundle ${String(current.bundle.id)}, which does not exist`);
      return;
    }
    const {base, headers} = this.#connection.legacy;
    const {url} = parse(await send('GET', `${base}/projects/${project}/target/${target}/`, {headers})) as {url: string};
    const [id, content, server] = await Promise.all(
      ['static/id.txt', 'static/content.bin', 'ssr.js'].map((name) => send('GET', new URL(name, url).href)),
    );
    if (id?.body.toString() !== push.message)
      this.#report(`${target} serves ${String(id?.body)} instead of ${push.message}`);
    if (!content || sha256(content.body) !== push.contentDigest)
      this.#report(`a file of ${target} is not what was sent`);
    if (server?.status !== 404) this.#report(`${target} serves a server-only file`);
    tally.sites += 1;
  }

  async #disk(): Promise<void> {
    const inFolder = (name: string): Promise<readonly string[]> => readdir(path.join(this.#folder, name));
    const temporary = await inFolder('temporary');
    if (temporary.length > 0) this.#report(`temporary files are left: ${temporary.join(' ')}`);
    for (const id of await inFolder('bundles')) {
      const files = (await inFolder(`bundles/${id}`)).join(' ');
      const isDeleted = pushes.some((push) => String(push.id) === id && push.deleted === 'yes');
      if (isDeleted) this.#report(`bundles/${id} was deleted, and has ${files}`);
      else if (files !== 'archive contents.json') this.#report(`bundles/${id} consists of ${files}`);
    }
    // Each target has at most the one that it serves and the one that it is going to.
    const sites = await inFolder('sites');
    if (sites.length > 2 * projects.length * targets.length) this.#report(`there are ${String(sites.length)} sites`);
  }

  #report(problem: string): void {
    problems.push(`${this.#round}: ${problem}`);
    console.error(`${this.#round}: ${problem}`);
  }
}

async function start(folder: string, moment: Moment | undefined): Promise<RuntimeProcess | undefined> {
  const isCall = moment !== undefined && 'call' in moment;
  const runtime = await startRuntimeProcess(['--data', folder, '--deployment-seconds', '0'], {
    nodeOptions: isCall ? ['--import', path.join(import.meta.dirname, 'die-at.js')] : [],
    env: isCall ? {DIE_AT: moment.call} : {},
  });
  if (runtime) tally.slowestStart = Math.max(tally.slowestStart, runtime.readySeconds);
  return runtime;
}

console.error(`seed ${String(seed)}`);
const folder = await mkdtemp(path.join(tmpdir(), 'mycli-kill-'));
try {
  let checked = 0;
  for (let round = 1; round <= rounds + 1; round++) {
    const isLast = round > rounds;
    const moment = isLast ? undefined : chooseMoment();
    const name = `round ${String(round)} (${JSON.stringify(moment)})`;
    let runtime = await start(folder, moment);
    if (!runtime) {
      tally.killedAtStart += 1;
      runtime = await start(folder, undefined);
    }
    if (!runtime) throw new Error('It was killed, but not by this script.');
    const connection = await connect(runtime);
    // A runtime that is to die at one of its calls is checked by the next one, so that the checks are not its calls.
    if (isLast || (moment && !('call' in moment))) {
      await new Check(connection, folder, isLast ? 0 : checked, name).run();
      checked = pushes.length;
    }
    if (isLast) await runtime.stop();
    else await new Round(runtime, connection, moment ?? {answers: 1}).run(`m${String(round)}`);
    const [kind = 'none'] = Object.keys(moment ?? {});
    moments[kind] = (moments[kind] ?? 0) + 1;
    if (problems.length > 20) break;
  }
  console.log(
    JSON.stringify({
      seed,
      rounds,
      moments,
      ...tally,
      pushes: pushes.length,
      deployments: deployments.length,
      problems: problems.length,
    }),
  );
} finally {
  if (problems.length > 0) console.error(`The data folder is kept: ${folder}`);
  else await rm(folder, {recursive: true, force: true});
}
process.exitCode = problems.length > 0 ? 1 : 0;
