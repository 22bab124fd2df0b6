import {createHash} from 'node:crypto';
import type {
  BackendContext,
  BackendVerifyContext,
  HttpClient,
  HttpError,
  HttpOptions,
  HttpResponse,
} from 'mycli/backend';
import * as v from 'valibot';

/** The options of the backend: `backends.oci` of the configuration file, or `--backend-option key=value`. */
export const optionsSchema = v.strictObject({
  /** The registry and, after its host, the folder of repositories: `https://ghcr.io/shops`. */
  url: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\/[^/]/, 'must be an http or https URL'))),
});

/** The validated options. */
export type OciOptions = v.InferOutput<typeof optionsSchema>;

type VerifyContext = BackendVerifyContext<OciOptions>;

/** Environment variables with the credentials. A registry may need none. */
export const credentialNames = ['OCI_USERNAME', 'OCI_PASSWORD'] as const;

const descriptorSchema = v.looseObject({mediaType: v.string(), digest: v.string(), size: v.number()});
export type Descriptor = v.InferOutput<typeof descriptorSchema>;

const manifestSchema = v.looseObject({
  config: descriptorSchema,
  layers: v.array(descriptorSchema),
  annotations: v.optional(v.record(v.string(), v.string()), {}),
});
export type Manifest = v.InferOutput<typeof manifestSchema>;

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const tagsSchema = v.looseObject({tags: v.nullish(v.array(v.string()))});
const tokenSchema = v.looseObject({token: v.optional(v.string()), access_token: v.optional(v.string())});

/** The repository of a project: blobs by their digests, manifests that name them, and tags that name manifests. */
export interface Registry {
  readonly http: HttpClient;
  /** Stores a blob, and leaves nothing behind if that fails. */
  putBlob(digest: string, body: HttpOptions): Promise<void>;
  /** Stores a blob that is JSON. */
  putJson(mediaType: string, content: unknown): Promise<Descriptor>;
  blobUrl(digest: string): string;
  putManifest(tag: string, manifest: Manifest): Promise<void>;
  /** The manifest that a tag names, and its digest. Undefined if there is none. */
  readManifest(tag: string): Promise<{readonly manifest: Manifest; readonly digest: string} | undefined>;
  deleteManifest(digest: string): Promise<void>;
  listTags(): Promise<readonly string[]>;
}

/** Opens the repository of a project, with what the registry asks for: a token, a password or nothing. */
export async function openRegistry(context: BackendContext<OciOptions>): Promise<Registry> {
  const {origin, pathname} = new URL(context.options.url ?? '');
  const repository = [...pathname.split('/').filter(Boolean), context.projectSlug].join('/');
  const base = `${origin}/v2/${repository}/`;
  const headers = await authorization(context, `repository:${repository}:pull,push,delete`);
  const http = context.http.extend({headers});
  const orMissing = (error: HttpError) => {
    if (error.status !== 404) throw error;
    return undefined;
  };

  const registry: Registry = {
    http,
    blobUrl: (digest) => `${base}blobs/${digest}`,
    async putBlob(digest, body) {
      const begun = await http.post(`${base}blobs/uploads/`, {body: '', repeatable: true});
      const upload = new URL(begun.headers.location ?? '', origin);
      // Of what was cut off, Debian's registry only knows the state that it has told: it removes the rest after a week.
      const discard = (client: HttpClient) => client.delete(upload.href, {headers, throwHttpErrors: false});
      context.onAbort(async (cleanup) => void (await discard(cleanup.http)));
      const closing = new URL(upload);
      closing.searchParams.set('digest', digest);
      try {
        await http.put(closing.href, body);
      } catch (error) {
        if (!context.signal.aborted) await discard(http).catch(() => undefined);
        throw error;
      }
    },
    async putJson(mediaType, content) {
      const body = JSON.stringify(content);
      const digest = digestOf(body);
      await registry.putBlob(digest, {body, headers: {'content-type': 'application/octet-stream'}});
      return {mediaType, digest, size: Buffer.byteLength(body)};
    },
    async putManifest(tag, {config, layers, annotations}) {
      const body = JSON.stringify({schemaVersion: 2, mediaType: manifestType, config, layers, annotations});
      await http.put(`${base}manifests/${tag}`, {body, headers: {'content-type': manifestType}, repeatable: true});
    },
    async readManifest(tag) {
      const answer = await http.get(`${base}manifests/${tag}`, {headers: {accept: manifestType}}).catch(orMissing);
      if (answer === undefined) return undefined;
      return {manifest: v.parse(manifestSchema, JSON.parse(answer.body)), digest: digestOf(answer.body)};
    },
    async deleteManifest(digest) {
      await http.delete(`${base}manifests/${digest}`);
    },
    async listTags() {
      const all: string[] = [];
      for (let url: string | undefined = `${base}tags/list?n=1000`; url !== undefined;) {
        const answer: HttpResponse | undefined = await http.get(url).catch(orMissing);
        if (answer === undefined) break;
        all.push(...(v.parse(tagsSchema, JSON.parse(answer.body)).tags ?? []));
        const [, next]: readonly string[] = /<([^>]+)>;\s*rel="?next/.exec(String(answer.headers.link ?? '')) ?? [];
        url = next && new URL(next, origin).href;
      }
      return all;
    },
  };
  return registry;
}

/**
 * The credentials in the form that the registry asks for.
 * @param scope What a token is to be for.
 */
export async function authorization(context: VerifyContext, scope?: string): Promise<Readonly<Record<string, string>>> {
  const {http, env, options} = context;
  const [username = '', password = ''] = credentialNames.map((name) => env[name]);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  // The host knows the password, but not what it looks like here.
  context.maskSecret(credentials);
  const basic: Record<string, string> = username === '' ? {} : {authorization: `Basic ${credentials}`};
  const answer = await http.get(new URL('/v2/', options.url).href, {throwHttpErrors: false});
  const challenge = answer.statusCode === 401 ? (answer.headers['www-authenticate'] ?? '') : '';
  const [, realm] = /^bearer .*\brealm="([^"]+)"/i.exec(challenge) ?? [];
  if (realm === undefined) return basic;
  const [, service] = /\bservice="([^"]+)"/.exec(challenge) ?? [];
  const answered = await http.get(realm, {headers: basic, searchParams: {service, scope}}).json();
  const {token, access_token: accessToken = token} = v.parse(tokenSchema, answered);
  context.maskSecret(accessToken);
  return {authorization: `Bearer ${accessToken}`};
}

function digestOf(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
