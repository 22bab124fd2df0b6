import {lookup} from 'node:dns';
import {request as httpRequest, type IncomingHttpHeaders} from 'node:http';
import {text} from 'node:stream/consumers';
import type {LocalRuntime} from '../../src/testing.js';

/** An answer, read whole. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers as they expect them to be
  readonly json: any;
}

/** Sends a request and reads the answer. */
export async function send(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, {redirect: 'manual', ...init});
  const body = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {status: response.status, headers: response.headers, body, json: isJson ? JSON.parse(body) : undefined};
}

/** A v2 form made by the platform. */
export function v2Form(archive: Uint8Array, fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  form.set('bundle', new Blob([new Uint8Array(archive)], {type: 'application/octet-stream'}), 'bundle.tar.gz');
  const all = {
    message: 'first',
    rootDir: 'bld',
    configPath: '.runtime/config.json',
    matchMode: 'strict',
    ...fields,
  };
  for (const [name, value] of Object.entries(all)) form.set(name, value);
  return form;
}

/** A v1 body. */
export function v1Body(archive: Buffer, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    message: 'first',
    encoding: 'base64',
    data: archive.toString('base64'),
    ssr_parameters: {},
    ssr_only: ['ssr.js'],
    ssr_shared: ['static/index.html', 'static/app.js'],
    ...more,
  });
}

/** A client of one runtime with its credentials. */
export function clientOf(runtime: LocalRuntime) {
  const {apiKey, organizationId, clientId, clientSecret, tokenUrl} = runtime.credentials;
  const legacyHeaders = {authorization: `Bearer ${apiKey}`};
  const baseOf = (area: string) =>
    `${runtime.origin}/storefront/${area}/v1/organizations/${organizationId}/storefronts`;
  const apiBase = baseOf('deployments');
  const json = (value: unknown): RequestInit => ({
    method: 'POST',
    body: JSON.stringify(value),
    headers: {'content-type': 'application/json'},
  });
  const token = (form = 'grant_type=client_credentials&scope=bundles', id = clientId, secret = clientSecret) =>
    send(tokenUrl, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: form,
    });
  const legacy = (path: string, init: RequestInit = {}): Promise<Reply> =>
    send(`${runtime.origin}/api/${path}`, {...init, headers: {...legacyHeaders, ...(init.headers as object)}});
  const apiAt = async (base: string, path: string, init: RequestInit = {}): Promise<Reply> => {
    const {json: granted} = await token();
    const headers = {authorization: `Bearer ${String(granted.access_token)}`, ...(init.headers as object)};
    return send(`${base}/${path}`, {...init, headers});
  };
  const api = (path: string, init: RequestInit = {}) => apiAt(apiBase, path, init);
  const environments = (path: string, init: RequestInit = {}) =>
    apiAt(baseOf('environments'), `shop/environments${path}`, init);
  const storefronts = () => apiAt(baseOf('storefronts'), '');
  return {
    json,
    token,
    storefronts,
    legacy,
    api,
    environments,
    apiBase,
    legacyHeaders,
    site: (path: string, init: RequestInit = {}) => send(`${runtime.appsOrigin}/${path}`, init),
    pushV2: (archive: Uint8Array, fields: Readonly<Record<string, string>> = {}, project = 'shop') =>
      legacy(`v2/projects/${project}/bundles/`, {method: 'POST', body: v2Form(archive, fields)}),
    pushV1: (body: string, path = 'projects/shop/builds/') =>
      legacy(path, {method: 'POST', body, headers: {'content-type': 'application/json'}}),
    deploy: (bundleId: unknown, target = 'production') =>
      legacy(`projects/shop/target/${target}/deploy/`, json({bundle_id: bundleId})),
  };
}

/** Begins a v2 upload that does not end by itself. */
export function beginUpload({origin, credentials}: LocalRuntime): ReturnType<typeof httpRequest> {
  const headers = {
    authorization: `Bearer ${credentials.apiKey}`,
    'content-type': 'multipart/form-data; boundary=xyz',
    'content-length': '100000000',
  };
  const upload = httpRequest(`${origin}/api/v2/projects/shop/bundles/`, {method: 'POST', headers});
  upload.write('--xyz\r\nContent-Disposition: form-data; name="bundle"; filename="b"\r\n\r\nxx');
  return upload;
}

/** What came of a request that was sent byte by byte. */
export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with node:http: any header, any path, a body that is written by `write`. */
export function sendRaw(
  url: string,
  {
    method = 'GET',
    path,
    headers = {},
    write,
  }: {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly write?: (request: ReturnType<typeof httpRequest>) => void;
  } = {},
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method,
      headers,
      agent: false,
      // Not every resolver knows names below localhost.
      lookup: (name, options, done) => lookup(name.endsWith('.localhost') ? 'localhost' : name, options, done),
      ...(path === undefined ? {} : {path}),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      text(response).then(
        (body) => {
          resolve({status: response.statusCode ?? 0, headers: response.headers, body});
          request.destroy();
        },
        (error: unknown) => {
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
    if (write) write(request);
    else request.end();
  });
}
