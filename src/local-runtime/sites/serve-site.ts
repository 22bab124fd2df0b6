import {realpath, stat} from 'node:fs/promises';
import path from 'node:path';
import {parseAccept} from 'hono/utils/accept';
import {getMimeType} from 'hono/utils/mime';
import {frameworks} from '../../frameworks/frameworks.js';
import {admitVisitor} from '../access.js';
import {answer, HttpFailure, type Headers} from '../answer.js';
import type {Call, Protocol} from '../runtime-context.js';
import {sendFile} from '../send-file.js';
import {decoded} from '../../text/percent-encoding.js';
import type {DeploymentRecord, TargetRecord} from '../store/store.js';
import {siteOfHost, sitePath, type SiteName} from './site-address.js';

/** The deployed apps. They have other origins than the API: their scripts can neither call it nor change its pages. */
export const siteProtocol: Protocol = {
  prefix: '/',
  routes: [{method: 'ALL', path: '*', name: 'site', handle: serveSite}],
  admit(call) {
    const place = placeOf(call);
    return admitVisitor(call, place && call.context.targets.get(place.site)?.access);
  },
  failure: ({status, message, headers}) => text(status, message, headers),
};

function text(status: number, line: string, headers: Headers = {}): Response {
  return answer(status, `${line}\n`, {'content-type': 'text/plain; charset=utf-8', ...headers});
}

interface SiteCall extends Call {
  readonly site: SiteName;
  /** The path of the target, without a final slash; empty at a host name of its own. */
  readonly base: string;
  /** The decoded parts of the path below the target. */
  readonly parts: readonly string[];
  readonly deployment: DeploymentRecord;
  /** Its files that may be served, see `Deployments`. */
  readonly folder: string;
}

/** Answers with a file of the deployment, or else with what its server answers, or else as hosts of static sites do. */
async function serveSite(request: Call): Promise<Response> {
  const {context, path: requested} = request;
  const {method = ''} = request.request;
  const where = `Each target is served at http://TARGET--PROJECT.localhost:${new URL(context.appsOrigin).port}/`;
  const place = placeOf(request);
  if (place === undefined && requested === '/') return text(200, `${where}, for development only.`);
  if (place === undefined) throw new HttpFailure(404, `Nothing is served at ${requested}. ${where}.`);
  const moved = movedTo(place, request.search, context.targets.get(place.site));
  if (moved !== undefined) return moved;
  const deployment = context.deployments.current(place.site);
  if (deployment === undefined) {
    const {projectSlug, targetSlug} = place.site;
    throw new HttpFailure(404, `Nothing is deployed to "${targetSlug}" of "${projectSlug}". ${where}.`);
  }
  const folder = context.store.sitePath(deployment.deploymentId);
  const call: SiteCall = {...request, ...place, deployment, folder};
  if (call.parts.length === 0) return redirect(308, call, []);
  const name = isSafe(call.parts) ? call.parts.join('/') : undefined;
  const isRead = method === 'GET' || method === 'HEAD';
  if (request.request.headers.upgrade?.toLowerCase() === 'websocket') {
    throw new HttpFailure(501, 'The runtime answers requests and passes on no WebSockets. Serve them elsewhere.');
  }
  const file = isRead && name !== undefined ? await findFile(folder, namesOf(name)) : undefined;
  const isCurrent = (): boolean => context.deployments.current(place.site) === deployment;
  try {
    if (file !== undefined) return await sendSiteFile(call, file);
  } catch (error) {
    if (isCurrent() || request.response.headersSent) throw error;
  }
  // A newer one was finished meanwhile, and the files of this one are gone.
  if (!isCurrent()) return serveSite(request);
  const answered = await context.appServers?.answer(call, deployment);
  if (answered) return answered;
  if (!isRead) throw new HttpFailure(405, `${requested} does not accept ${method}, only GET.`, {allow: 'GET'});
  const other = name === undefined ? undefined : await otherPage(call, name);
  if (other !== undefined) return other;
  const advice =
    context.appServers === undefined
      ? 'If its server should answer, start the runtime with --ssr.'
      : 'It has no server either: no ssr.js, no entry of a known framework, no server.js or index.js at its top.';
  throw new HttpFailure(404, `The deployed bundle does not serve a file at ${requested}. ${advice}`);
}

/** A target is named by the host or, where clients cannot resolve that, by the path. */
function placeOf({request, path}: Call): Pick<SiteCall, 'site' | 'base' | 'parts'> | undefined {
  const own = siteOfHost(request.headers.host);
  const parts = path.slice(1).split('/').map(decodeURIComponent);
  if (own) return {site: own, base: '', parts};
  const [projectSlug = '', targetSlug, ...rest] = parts;
  if (targetSlug === undefined) return undefined;
  const site = {projectSlug, targetSlug};
  return {site, base: sitePath(site), parts: rest};
}

/** The answer of a redirect of the target, if one is for this path. */
function movedTo({base, parts}: Pick<SiteCall, 'base' | 'parts'>, search: string, record: TargetRecord | undefined) {
  const path = `/${parts.join('/')}`;
  for (const {from, to, status, forwardQuery, forwardWildcard} of record?.redirects ?? []) {
    const [start = '', end] = (decoded(from) ?? from).split('*', 2);
    if (end === undefined ? path !== start : !(path.startsWith(start) && path.endsWith(end))) continue;
    const rest = path.slice(start.length, path.length - (end?.length ?? 0));
    const encoded = encodeURI(rest).replaceAll('?', '%3F').replaceAll('#', '%23');
    const place = end !== undefined && forwardWildcard ? to.replace('*', () => encoded) : to;
    const isPath = place.startsWith('/');
    const url = new URL(isPath ? `http://site${place}` : place);
    if (forwardQuery) url.search += url.search === '' ? search : search.replace('?', '&');
    // A path never leaves the target, as `//evil` would.
    const below = `${base}${url.pathname.replace(/^\/+/, '/')}${url.search}${url.hash}`;
    return answer(status, '', {location: isPath ? below : url.href});
  }
  return undefined;
}

function isSafe(parts: readonly string[]): boolean {
  const isUnsafe = (part: string): boolean => part === '.' || part === '..' || /[/\\\0]/.test(part);
  return !parts.slice(0, -1).includes('') && !parts.some(isUnsafe);
}

/** Folders that frameworks build for the root of a site whose server stands beside them. */
const publicFolders = [...new Set(frameworks.flatMap(({publicFolder = []}) => publicFolder))];

const assetPrefixes = frameworks.flatMap(({assetPrefix = []}) => assetPrefix);

function namesOf(name: string): readonly string[] {
  if (name === '') return ['index.html'];
  if (name.endsWith('/'))
    return ['', ...publicFolders.map((root) => `${root}/`)].map((root) => `${root}${name}index.html`);
  const withoutPrefix = assetPrefixes.map((prefix) => name.replace(prefix, ''));
  return [name, `${name}.html`, ...publicFolders.map((root) => `${root}/${name}`), ...withoutPrefix];
}

/** The page that a path without a file may mean, or a redirect to it. */
async function otherPage(call: SiteCall, name: string): Promise<Response | undefined> {
  const {folder, parts, request} = call;
  const find = (file: string) => findFile(folder, [file, ...publicFolders.map((root) => `${root}/${file}`)]);
  const page = await find('index.html');
  if (name === '') {
    if (page !== undefined) return sendSiteFile(call, page);
    // A redirect instead of the page itself, because its relative links depend on its location.
    const other = await findFile(folder, ['static/index.html']);
    return other === undefined ? undefined : redirect(302, call, ['static'], 'index.html');
  }
  if (!name.endsWith('/') && (await statsIn(folder, name))?.isDirectory()) return redirect(302, call, parts);
  const missing = await find('404.html');
  if (missing !== undefined) return sendSiteFile(call, missing, 404);
  // The page of an app with its routes in the browser.
  const isNavigation = request.headers.accept?.includes('text/html') === true;
  return isNavigation && page !== undefined ? sendSiteFile(call, page) : undefined;
}

/**
 * Redirects to a folder of the same target, or a file in it. The address is built from validated names, because
 * browsers could take the requested one for another server's (`//evil`, `/\\evil`).
 */
function redirect(status: number, {base, search}: SiteCall, folders: readonly string[], file = ''): Response {
  const names = folders.map((name) => `/${encodeURIComponent(name)}`).join('');
  return answer(status, '', {location: `${base}${names}/${file}${search}`});
}

/** The first of some files that exists. */
async function findFile(folder: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) if ((await statsIn(folder, name))?.isFile()) return name;
  return undefined;
}

/** A data folder may come from somebody else, with links that lead out of it. */
async function statsIn(folder: string, name: string) {
  const target = await realpath(path.join(folder, name)).catch(() => undefined);
  return target?.startsWith(`${folder}${path.sep}`) === true ? stat(target).catch(() => undefined) : undefined;
}

/** Encodings of precompressed files, best first, with their file extensions. */
const encodings = {br: '.br', gzip: '.gz'} as const;

/** Answers with a file, in an encoding that the client accepts, if the bundle has one. */
async function sendSiteFile(call: SiteCall, name: string, status?: number): Promise<Response> {
  const {request, folder, deployment} = call;
  const variants: {readonly encoding: string; readonly file: string}[] = [];
  for (const [encoding, suffix] of Object.entries(encodings)) {
    const file = await findFile(folder, [`${name}${suffix}`]);
    if (file !== undefined) variants.push({encoding, file});
  }
  const accepted = parseAccept(request.headers['accept-encoding'] ?? '').filter(({q}) => q > 0);
  const variant = variants.find(({encoding}) => accepted.some(({type}) => type === encoding));
  return sendFile(path.join(folder, variant?.file ?? name), call, {
    status,
    etag: [deployment.deploymentId, variant?.encoding].filter(Boolean).join('-'),
    modified: new Date(deployment.endsAt),
    headers: {
      'content-type': getMimeType(name) ?? 'application/octet-stream',
      'cache-control': cacheControl(name),
      'x-content-type-options': 'nosniff',
      ...(variants.length > 0 && {vary: 'accept-encoding'}),
      ...(variant && {'content-encoding': variant.encoding}),
    },
  });
}

/**
 * Names that bundlers give to files, with a hash of their content: in hex (webpack, Parcel), in base32 (esbuild,
 * Angular) and in base64 (Vite, Rollup). Digits before letters set it apart from words, years and numbered names.
 */
const hashedNames = [
  /(?:^|[-._])(?=\d*[a-f])(?=[a-f]*\d)[\da-f]{8,64}(?:\.[a-z]\w*)+$/,
  /[-.](?=[A-Z2-7]*[2-7][A-Z])[A-Z2-7]{8}(?:\.[a-z]\w*)+$/,
  /[-.](?=[\w-]{0,6}\d[A-Za-z])(?=[\w-]{0,7}[a-z])(?=[\w-]{0,7}[A-Z])[\w-]{8}(?:\.[a-z]\w*)+$/,
];

/** Folders in which frameworks put nothing but files that never change: those of SvelteKit and Next.js. */
const immutableFolder = /(?:^|\/)(?:_app\/immutable|[_.]next\/static)\//;

/** A file may be kept forever if a change of it would change its name. All others are asked for again. */
export function cacheControl(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1);
  const isImmutable =
    !file.endsWith('.html') && (immutableFolder.test(name) || hashedNames.some((pattern) => pattern.test(file)));
  return isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
}
