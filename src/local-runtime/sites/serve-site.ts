import {realpath, stat} from 'node:fs/promises';
import path from 'node:path';
import {frameworks} from '../../frameworks/frameworks.js';
import {answer, HttpFailure, json, type Headers} from '../answer.js';
import type {AdmittedCall, Call, Protocol, RuntimeContext} from '../context.js';
import {sendFile} from '../send-file.js';
import type {DeploymentRecord} from '../store/store.js';
import {faviconPath} from '../pages/routes.js';
import {siteOfHost, sitePath, siteUrl, type SiteName} from './site-address.js';

/** Whether a browser looks for the icon of all apps, of which there is none. */
export function isAppIcon({path, request}: Call): boolean {
  return path === faviconPath && siteOfHost(request.headers.host) === undefined;
}

/** Whether it is the top of the port, where no app is. */
export function isHome({path, request}: Call): boolean {
  return path === '/' && siteOfHost(request.headers.host) === undefined;
}

/**
 * The deployed apps. They need no credentials, and have other origins than the API, so that their scripts can neither
 * call it nor change the pages of the runtime.
 */
export const siteProtocol: Protocol = {
  prefix: '/',
  routes: [],
  admit: () => 'browser',
  failure: ({status, message, headers}) => text(status, message, headers),
};

/** An answer with a line of text. */
function text(status: number, line: string, headers: Headers = {}): Response {
  return answer(status, `${line}\n`, {'content-type': 'text/plain; charset=utf-8', ...headers});
}

const appPath = /^\/([^/]+)\/([^/]+)(?:\/(.*))?$/;

/** What a browser finds at the origin of the API besides the pages: the way to the deployed apps. */
export const frontProtocol: Protocol = {
  prefix: '/',
  routes: [],
  admit: () => 'browser',
  // Most requests to unknown paths were meant for the API.
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};

/** Whether an app might be expected at a path. */
export function isAppPath(path: string): boolean {
  return appPath.test(path);
}

/** Redirects from where an app might be expected to where it is. */
export function redirectToApp(call: Call): Response {
  const [, project = '', target = '', file = ''] = appPath.exec(call.path) ?? [];
  const site = {projectSlug: decodeURIComponent(project), targetSlug: decodeURIComponent(target)};
  const {method = 'GET'} = call.request;
  if (call.context.store.deployments(site.projectSlug, site.targetSlug).length === 0) {
    throw new HttpFailure(404, `Nothing is served at ${call.path}.`);
  }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpFailure(405, `${call.path} does not accept ${method}, only GET.`, {allow: 'GET'});
  }
  return answer(307, '', {location: `${siteUrl(call, site)}${file}${call.search}`});
}

/** Where targets are served, for people. */
function sitePattern({appsOrigin}: RuntimeContext): string {
  return `http://TARGET--PROJECT.localhost:${new URL(appsOrigin).port}/`;
}

/** A request for an app. */
interface SiteCall extends AdmittedCall {
  readonly site: SiteName;
  /** The path of the target, without a final slash; empty at a host name of its own. */
  readonly base: string;
  readonly deployment: DeploymentRecord;
  /** The decoded parts of the path below the target. */
  readonly parts: readonly string[];
  /** The folder with the files that may be served, see `Deployments`. */
  readonly folder: string;
}

/** Answers a request for an app, by its host name or, where clients cannot resolve that, by its path. */
export async function serveSite(call: AdmittedCall): Promise<Response> {
  const {context, request} = call;
  const own = siteOfHost(request.headers.host);
  const parts = call.path.slice(1).split('/').map(decodeURIComponent);
  if (own) return serve(call, own, {base: '', parts});
  const [projectSlug = '', targetSlug, ...rest] = parts;
  if (isAppIcon(call)) return answer(204, '', {'cache-control': 'max-age=86400'});
  if (isHome(call)) return text(200, `Each target is served at ${sitePattern(context)}, for development only.`);
  if (targetSlug === undefined) {
    throw new HttpFailure(404, `Nothing is served at ${call.path}. Each target is served at ${sitePattern(context)}.`);
  }
  const site = {projectSlug, targetSlug};
  const base = sitePath(site);
  if (rest.length > 0) return serve(call, site, {base, parts: rest});
  findDeployment(call, site);
  return redirect(308, {base, search: call.search}, []);
}

/** The deployment that a target runs. @throws HttpFailure 404 if there is none. */
function findDeployment({context}: Call, {projectSlug, targetSlug}: SiteName): DeploymentRecord {
  const deployment = context.deployments.current(projectSlug, targetSlug);
  if (deployment) return deployment;
  const place = `"${targetSlug}" of "${projectSlug}"`;
  throw new HttpFailure(404, `Nothing is deployed to ${place}. Each target is served at ${sitePattern(context)}.`);
}

async function serve(
  call: AdmittedCall,
  site: SiteName,
  where: {readonly base: string; readonly parts: readonly string[]},
): Promise<Response> {
  const open = (deployment: DeploymentRecord): SiteCall => {
    return {...call, ...where, site, deployment, folder: call.context.store.sitePath(deployment.deploymentId)};
  };
  const deployment = findDeployment(call, site);
  try {
    return await serveFrom(open(deployment));
  } catch (error) {
    const newer = findDeployment(call, site);
    if (!(error instanceof HttpFailure) || error.status !== 404 || newer === deployment) throw error;
    // Its files were removed while they were looked for.
    return serveFrom(open(newer));
  }
}

/** Answers with a file of a deployment, or else what its server answers, or else as hosts of static sites do. */
async function serveFrom(call: SiteCall): Promise<Response> {
  const {context, request, deployment, base} = call;
  const {method = 'GET'} = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const found = isRead ? await findFile(call) : undefined;
  if (found !== undefined) return answerWith(call, found);
  const answered = await context.appServers?.answer({...call, base}, deployment);
  if (answered) return answered;
  if (isRead) return otherPage(call);
  throw new HttpFailure(405, `${call.path} does not accept ${method}, only GET.`, {allow: 'GET'});
}

/** Folders that frameworks build for the root of a site whose server stands beside them. */
const publicFolders = [...new Set(frameworks.flatMap(({publicFolder = []}) => publicFolder))];

/** The name of the file that a path asks for, in the folder of the site. */
async function findFile({folder, parts}: SiteCall): Promise<string | undefined> {
  if (!isSafe(parts)) return undefined;
  const name = parts.join('/');
  const isFolder = name === '' || name.endsWith('/');
  const names = isFolder ? [`${name}index.html`] : [name, `${name}.html`];
  return firstFile(folder, isFolder ? names : [...names, ...publicFolders.map((root) => `${root}/${name}`)]);
}

async function firstFile(folder: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) if ((await pathInside(folder, name, 'file')) !== undefined) return name;
  return undefined;
}

/** The page that a path without a file may mean, or a redirect to it. */
async function otherPage(call: SiteCall): Promise<Response> {
  const {folder, parts, request} = call;
  const name = parts.join('/');
  if (!isSafe(parts)) throw notServed(call);
  const isFolder = name === '' || name.endsWith('/');
  if (!isFolder && (await pathInside(folder, name, 'folder')) !== undefined) return redirect(302, call, parts);
  if (name === '') {
    // A redirect instead of the page itself, because its relative links depend on its location.
    const page = await firstFile(folder, ['static/index.html', 'client/index.html']);
    if (page !== undefined) return redirect(302, call, [path.dirname(page)], 'index.html');
    throw notServed(call);
  }
  if ((await firstFile(folder, ['404.html'])) !== undefined) return answerWith(call, '404.html', 404);
  // The page of an app with its routes in the browser.
  const isNavigation = request.headers.accept?.includes('text/html') === true;
  const page = isNavigation ? await firstFile(folder, ['index.html']) : undefined;
  if (page !== undefined) return answerWith(call, page);
  throw notServed(call);
}

/** Encodings of precompressed files, best first, with their file extensions. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Answers with a file of a site, in an encoding that the client accepts, if the bundle has one. */
async function answerWith(
  {request, response, folder, context, deployment: {deploymentId, endsAt}}: SiteCall,
  name: string,
  status?: number,
): Promise<Response> {
  const {default: types} = await import('mime');
  const type = types.getType(name) ?? 'application/octet-stream';
  const encoded = [];
  for (const [encoding, suffix] of encodings) {
    const file = await pathInside(folder, `${name}${suffix}`, 'file');
    if (file !== undefined) encoded.push({encoding, file});
  }
  const variant = encoded.find(({encoding}) => accepts(request.headers['accept-encoding'], encoding));
  const file = variant?.file ?? (await pathInside(folder, name, 'file'));
  if (file === undefined) throw new HttpFailure(404, 'The file is gone.');
  return sendFile(
    file,
    {request, response},
    {
      status,
      etag: variant === undefined ? deploymentId : `${deploymentId}-${variant.encoding}`,
      modified: new Date(endsAt),
      headers: {
        'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
        'cache-control': cacheControl(name),
        'x-content-type-options': 'nosniff',
        ...(encoded.length > 0 && {vary: 'accept-encoding'}),
        ...(variant && {'content-encoding': variant.encoding}),
      },
      stallSeconds: context.stallSeconds,
    },
  );
}

/** Whether an `Accept-Encoding` header names an encoding, and not to refuse it. */
function accepts(header = '', encoding: string): boolean {
  return header.split(',').some((item) => {
    const [name = '', quality = ''] = item
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return (name === encoding || name === `x-${encoding}`) && !/^q=0(?:\.0*)?$/.test(quality);
  });
}

/**
 * Names that bundlers give to files, with a hash of their content: in hex (webpack, Parcel), in base32 (esbuild,
 * Angular) and in base64 (Vite, Rollup). Digits before letters set it apart from words, years and numbered names.
 */
const hashedNames = [
  /(?:^|[-._])(?=\d*[a-f])(?=[a-f]*\d)[\da-f]{8,64}(?:\.[a-z]\w*)+$/,
  /[-.](?=[A-Z2-7]*[2-7][A-Z])[A-Z2-7]{8}(?:\.[a-z]\w*)+$/,
  /[-.](?=[\w-]*\d[A-Za-z])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{8}(?:\.[a-z]\w*)+$/,
];
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

/** Folders in which frameworks put nothing but files that never change: those of SvelteKit and Next.js. */
const immutableFolder = /(?:^|\/)(?:_app\/immutable|[_.]next\/static)\//;

/**
 * How long a file of a bundle may be kept without asking again: forever if a change of it would change its name, and
 * not at all otherwise.
 */
export function cacheControl(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1);
  const isImmutable =
    !file.endsWith('.html') &&
    (immutableFolder.test(name) || (hashedNames.some((pattern) => pattern.test(file)) && !uuid.test(file)));
  return isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
}

/**
 * Redirects to a folder of the same target, or a file in it. The address is built from validated names, because
 * browsers could take the requested one for another server's (`//evil`, `/\evil`).
 */
function redirect(
  status: number,
  {base, search}: Pick<SiteCall, 'base' | 'search'>,
  folders: readonly string[],
  file = '',
): Response {
  const names = folders.map((name) => `/${encodeURIComponent(name)}`).join('');
  return answer(status, '', {location: `${base}${names}/${file}${search}`});
}

function notServed({path: requested, context: {appServers}}: Call): HttpFailure {
  const advice = appServers === undefined ? ' If its server should answer, start the runtime with --ssr.' : '';
  return new HttpFailure(404, `The deployed bundle does not serve a file at ${requested}.${advice}`);
}

function isSafe(parts: readonly string[]): boolean {
  const isUnsafe = (part: string): boolean => part === '.' || part === '..' || /[/\\\0]/.test(part);
  return !parts.slice(0, -1).includes('') && !parts.some(isUnsafe);
}

/**
 * The file or folder that a name resolves to, if it is inside the folder. This repeats the check of the upload. Files
 * may be links of the bundle; the folder itself is not a link, nor behind one.
 */
async function pathInside(folder: string, name: string, kind: 'file' | 'folder'): Promise<string | undefined> {
  const found = await realpath(path.join(folder, name)).catch(() => undefined);
  if (!found?.startsWith(folder + path.sep)) return undefined;
  const stats = await stat(found).catch(() => undefined);
  return (kind === 'file' ? stats?.isFile() : stats?.isDirectory()) ? found : undefined;
}
