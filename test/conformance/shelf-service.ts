import {once} from 'node:events';
import {randomInt} from 'node:crypto';
import {createServer, type IncomingHttpHeaders, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {buffer} from 'node:stream/consumers';
import type {ConformanceFixtures, ConformanceService} from '../../src/testing.js';

interface ShelvedBundle {
  readonly id: string;
  readonly message: string;
  readonly createdAt: string;
  readonly bytes: Buffer;
}

interface ShelvedDeployment {
  readonly id: string;
  readonly bundleId: string;
  readonly createdAt: string;
  /** The status after the first look. */
  readonly end: 'finished' | 'failed';
  looks: number;
}

interface Upload {
  readonly project: string;
  readonly message: string;
  readonly parts: Map<string, Buffer>;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Asked {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Suite = Parameters<ConformanceFixtures['openService']>[0];

const key = 'canary-shelf-key-b81e';
const password = 'canary-shelf-password-3a90';
const seal = 'canary-shelf-seal-07c2';
const targetSlugs: ReadonlySet<string> = new Set(['staging', 'production']);
const ofTargets: ReadonlySet<string> = new Set([
  ...['targets', 'variables', 'purges', 'tail'],
  ...['settings', 'redirects', 'access'],
]);
/** How many items a page has at most, whatever the limit. */
const largestPage = 5;

/**
 * A small hosting service in memory, with a protocol of its own and odd IDs: `/PROJECT/uploads[/ID[/PART]]`,
 * `/PROJECT/bundles[/ID]`, `/PROJECT/targets[/TARGET[/ID]]`,
 * `/PROJECT/settings/TARGET`, `/PROJECT/redirects/TARGET`, `/PROJECT/access/TARGET`, `/PROJECT/variables/TARGET`, `/PROJECT/purges/TARGET`, `/PROJECT/tail/TARGET`, `/login` and `/me`.
 */
export async function openShelf({through}: Suite = {through: async (origin) => origin}): Promise<ConformanceService> {
  const uploads = new Map<string, Upload>();
  const bundles = new Map<string, ShelvedBundle[]>();
  const deployments = new Map<string, ShelvedDeployment[]>();
  const made = new Map<string, {readonly project: string; readonly slug: string; readonly name?: string}>();
  const variables = new Map<string, ReadonlyMap<string, string>>();
  const settings = new Map<string, object>();
  /** The redirects and the access headers of targets, by kind and target. */
  const rows = new Map<string, readonly {readonly id: string}[]>();
  const logs = new Map<string, string[]>();
  /** The primary target of each project that has one. */
  const primaries = new Map<string, string>();
  /** Secrets that only the uploader of a sealed bundle learns, or who logs in. */
  const receipts: string[] = [];
  let [busy, doomed, ids] = [false, false, 0];
  // Another service does not have the IDs of this one.
  const prefix = String(randomInt(100_000, 1_000_000));
  const liveAt = (target: string) => deployments.get(target)?.find(({end}) => end === 'finished')?.bundleId;
  const newId = () => `../${prefix}?ü ${String((ids += 1))}#%`;

  const upload = ([project = '', , id, part]: readonly string[], {method, headers, body}: Asked): Answer => {
    if (id === undefined) {
      const begun = newId();
      uploads.set(begun, {project, message: decodeURIComponent(String(headers['x-message'])), parts: new Map()});
      return {status: 201, body: {id: begun}};
    }
    const found = uploads.get(id);
    if (found?.project !== project) return {status: 404};
    if (method === 'GET') return {status: 200, body: {parts: [...found.parts.keys()]}};
    if (method === 'PUT') found.parts.set(String(part), body);
    if (method !== 'POST') {
      if (method === 'DELETE') uploads.delete(id);
      return {status: 204};
    }
    uploads.delete(id);
    const parts = [...found.parts].toSorted(([a], [b]) => Number(a) - Number(b)).map(([, bytes]) => bytes);
    const {message} = found;
    const bundle = {id, message, createdAt: new Date().toISOString(), bytes: Buffer.concat(parts)};
    bundles.set(project, [bundle, ...(bundles.get(project) ?? [])]);
    if (headers['x-seal'] !== seal) return {status: 201, body: {id}};
    const receipt = `canary-receipt-${String(receipts.length)}-${prefix}`;
    receipts.push(receipt);
    return {status: 201, body: {id, receipt}};
  };

  const bundle = ([project = '', , name]: readonly string[], {method, query, headers}: Asked): Answer => {
    const shelf = bundles.get(project) ?? [];
    if (name === undefined) {
      const rows = shelf.map(({id, message, createdAt}) => {
        const runs = [...targetSlugs].filter((slug) => liveAt(`${project}/${slug}`) === id);
        return {id, message, createdAt, inUseBy: runs};
      });
      return pageOf(rows, query);
    }
    const found = shelf.find((one) => one.id === name);
    if (!found) return {status: 404, body: {detail: 'no such bundle'}};
    if (method === 'GET') return archiveAnswer(found, headers);
    bundles.set(
      project,
      shelf.filter((one) => one !== found),
    );
    return {status: 204};
  };

  const deployment = (path: readonly string[], {method, query, body}: Asked): Answer => {
    const [project = '', kind, name, id] = path;
    if (name === undefined) {
      const used = [...targetSlugs].filter((slug) => deployments.has(`${project}/${slug}`));
      const rows = [...used.map((slug) => ({slug})), ...[...made.values()].filter((one) => one.project === project)];
      return pageOf(rows, query);
    }
    const target = `${project}/${name}`;
    if (method === 'PUT') {
      if (made.has(target)) return {status: 409, body: {detail: 'there is one'}};
      const {copyFrom, ...named} = JSON.parse(body.toString()) as {name?: string; copyFrom?: string};
      const source = `${project}/${String(copyFrom)}`;
      const isSource = targetSlugs.has(String(copyFrom)) || made.has(source);
      if (copyFrom !== undefined && !isSource) return {status: 404, body: {detail: 'no such target'}};
      const row = {slug: name, project, ...named};
      made.set(target, row);
      variables.set(target, variables.get(source) ?? new Map());
      settings.set(target, settings.get(source) ?? {});
      rows.set(`redirects ${target}`, rows.get(`redirects ${source}`) ?? []);
      return {status: 201, body: row};
    }
    if (!targetSlugs.has(name) && !made.has(target)) return {status: 404, body: {detail: 'no such target'}};
    if (method === 'DELETE') {
      for (const all of [made, deployments, variables, settings]) all.delete(target);
      for (const kind of ['redirects', 'access']) rows.delete(`${kind} ${target}`);
      if (primaries.get(project) === name) primaries.delete(project);
      return {status: 204};
    }
    if (kind === 'purges') return {status: 202};
    if (kind === 'settings') {
      if (method === 'PATCH') {
        const {primary, ...changes} = JSON.parse(body.toString()) as {primary?: boolean};
        settings.set(target, {...settings.get(target), ...changes});
        if (primary === true) primaries.set(project, name);
        if (primary === false) primaries.delete(project);
      }
      return {status: 200, body: {...settings.get(target), primary: primaries.get(project) === name}};
    }
    if (kind === 'redirects' || kind === 'access') {
      const place = `${kind} ${target}`;
      const before = rows.get(place) ?? [];
      if (method === 'GET') return pageOf(before, query);
      const row = JSON.parse(body.toString()) as {id?: string};
      const after = before.filter((one) => one.id !== row.id);
      rows.set(place, method === 'POST' ? [...after, {id: row.id ?? newId(), ...row}] : after);
      return {status: 204};
    }
    if (kind === 'tail') {
      const all = logs.get(target) ?? [];
      return {status: 200, body: {lines: all.slice(Number(query.get('after'))), next: all.length}};
    }
    const known = variables.get(target) ?? new Map<string, string>();
    if (method === 'PATCH') {
      const {set, unset} = JSON.parse(body.toString()) as {set: Record<string, string>; unset: string[]};
      const kept = [...known, ...Object.entries(set)].filter(([one]) => !unset.includes(one));
      variables.set(target, new Map(kept));
      return {status: 204};
    }
    if (kind === 'variables') {
      const rows = [...known.keys()].map((one) => ({name: one}));
      return pageOf(rows, query);
    }
    const history = deployments.get(target) ?? [];
    if (method === 'POST') {
      if (busy) return {status: 409, body: {detail: 'another deployment is running'}};
      const {bundleId, from} = JSON.parse(body.toString()) as {bundleId: string; from?: string};
      const isThere = bundles.get(project)?.some((one) => one.id === bundleId) === true;
      if (!isThere) return {status: 404, body: {detail: 'no such bundle'}};
      const isRun = liveAt(`${project}/${String(from)}`) === bundleId;
      if (from !== undefined && !isRun) return {status: 412, body: {detail: 'the target runs another bundle'}};
      const end = doomed ? ('failed' as const) : ('finished' as const);
      const made = {id: newId(), bundleId, createdAt: new Date().toISOString(), end, looks: 0};
      deployments.set(target, [made, ...history]);
      return {status: 202, body: {id: made.id}};
    }
    if (id === undefined) {
      const messageOf = (bundleId: string) => bundles.get(project)?.find((one) => one.id === bundleId)?.message;
      const rows = history.map(({end, ...row}) => ({...row, status: end, message: messageOf(row.bundleId)}));
      return pageOf(rows, query);
    }
    const found = history.find((one) => one.id === id);
    if (!found) return {status: 404, body: {detail: 'no such deployment'}};
    found.looks += 1;
    return {status: 200, body: {status: found.looks > 1 ? found.end : 'in_progress'}};
  };

  /** A password is good for a ticket, and a ticket for the key. */
  const logIn = (given: {readonly password?: string; readonly ticket?: string}): Answer => {
    if (given.ticket !== undefined && receipts.includes(given.ticket)) return {status: 200, body: {key}};
    if (given.password !== password) return {status: 401};
    const ticket = `canary-ticket-${String(receipts.length)}-${prefix}`;
    receipts.push(ticket);
    return {status: 200, body: {ticket}};
  };

  const respond = ({method = '', url = '', headers}: IncomingMessage, body: Buffer): Answer => {
    const {pathname, searchParams: query} = new URL(url, 'http://shelf');
    const path = pathname.slice(1).split('/').map(decodeURIComponent);
    if (path[0] === 'login') return logIn(JSON.parse(body.toString()) as {password?: string; ticket?: string});
    if (headers.authorization !== `Bearer ${key}`) return {status: 401};
    if (path[0] === 'me') return {status: 200, body: {account: 'ann'}};
    const asked = {method, query, headers, body};
    if (path[1] === 'uploads') return upload(path, asked);
    if (path[1] === 'bundles') return bundle(path, asked);
    if (path[1] === 'project') {
      const rows = [...bundles.keys()].map((projectSlug) => ({projectSlug}));
      return pageOf(rows, query);
    }
    return ofTargets.has(path[1] ?? '') ? deployment(path, asked) : {status: 404};
  };

  const server = createServer((request, response) => {
    const answered = buffer(request).then((body) => {
      const {status, headers, body: content} = respond(request, body);
      response.writeHead(status, headers);
      response.end(content === undefined || Buffer.isBuffer(content) ? content : JSON.stringify(content));
    });
    // The client has gone.
    answered.catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    options: {
      origin: await through(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`),
      key,
    },
    env: {SHELF_SEAL: seal},
    secrets: [key, password, seal],
    // The key is declared, too.
    issuedSecrets: () => [key, ...receipts],
    answer: () => password,
    readUploaded: async (bundleId, project) => {
      const found = bundles.get(project)?.find(({id}) => id === bundleId);
      if (!found) throw new Error(`there is no bundle ${String(bundleId)}`);
      return found.bytes;
    },
    countUploads: () => uploads.size + [...bundles.values()].flat().length,
    readVariable: (targetSlug, name, project) => variables.get(`${project}/${targetSlug}`)?.get(name),
    writeLog: (targetSlug, line, project) => {
      const target = `${project}/${targetSlug}`;
      logs.set(target, [...(logs.get(target) ?? []), line]);
    },
    occupyTarget: () => void (busy = true),
    failDeployments: () => void (doomed = true),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A page, after the row with a key or after a number of rows, and the key of its last row. */
function pageOf(rows: readonly unknown[], query: URLSearchParams): Answer {
  const keys = rows.map((row) => Object.values(Object(row) as object)[0] as string);
  const after = query.get('after') ?? '';
  const start = keys.includes(after) ? keys.indexOf(after) + 1 : Number(after);
  const end = start + Math.min(Number(query.get('limit')), largestPage);
  return {
    status: 200,
    body: {items: rows.slice(start, end), total: rows.length, ...(end < rows.length && {next: keys[end - 1]})},
  };
}

/** The archive, or the rest of it if the client has the beginning of the same one. */
function archiveAnswer({id, bytes}: ShelvedBundle, headers: IncomingHttpHeaders): Answer {
  const etag = `"${encodeURIComponent(id)}"`;
  const [, first] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  const isResumed = first !== undefined && headers['if-range'] === etag;
  const body = isResumed ? bytes.subarray(Number(first)) : bytes;
  return {status: isResumed ? 206 : 200, headers: {etag, 'content-length': String(body.length)}, body};
}
