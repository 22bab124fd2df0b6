import type {BackendContext, HttpClient, HttpError, HttpOptions, HttpResponse} from 'mycli/backend';
import * as v from 'valibot';

/** The options of the backend: `backends.webdav` of the configuration file, or `--backend-option key=value`. */
export const optionsSchema = v.strictObject({
  /** The folder that everything is stored in. It must exist. `check` reports a missing option. */
  url: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\/[^/]/, 'must be an http or https URL'))),
});

/** The validated options. */
export type WebdavOptions = v.InferOutput<typeof optionsSchema>;

/** The context of every call. */
export type WebdavContext = BackendContext<WebdavOptions>;

/** Environment variables with the credentials. */
export const credentialNames = ['WEBDAV_USERNAME', 'WEBDAV_PASSWORD'] as const;

/** The folder of a project on the server. Paths are relative to it, and have no characters that URLs escape. */
export interface Dav {
  /** URL of the folder, with a slash at its end. */
  readonly base: string;
  readonly http: HttpClient;
  readonly error: WebdavContext['error'];
  /** Creates folders that do not exist, the outer ones first. */
  makeFolders(paths: readonly string[]): Promise<void>;
  /** Names of what is in a folder, and its own among them; none if it does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /** Reads JSON; undefined if there is none. */
  read<Schema extends v.GenericSchema>(path: string, schema: Schema): Promise<v.InferOutput<Schema> | undefined>;
  /** Writes a file, with a body of `context.bodies` or JSON. */
  write(path: string, body: HttpOptions): Promise<void>;
  /** Moves a file or folder to a path that does not exist, on most servers atomically. */
  move(from: string, to: string): Promise<void>;
  /** Removes a file, or a folder and all that is in it. Resolves to whether there was one. */
  remove(path: string): Promise<boolean>;
  /**
   * Locks a file, which need not exist, while `work` runs. `work` gets the header that a write of the file needs.
   * @throws `ERR_TARGET_BUSY` if someone else has locked it.
   */
  locked<Result>(path: string, work: (headers: {readonly if: string}) => Promise<Result>): Promise<Result>;
}

const lockBody =
  '<?xml version="1.0" encoding="utf-8"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>' +
  '<locktype><write/></locktype><owner>mycli-plugin-webdav</owner></lockinfo>';
const listBody = '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>';
const xml = {'content-type': 'application/xml; charset=utf-8'};
/** For how long the lock of a killed process lasts. */
const lockSeconds = 60;

/** Opens the project's folder on the server. Sends nothing. */
export function openDav(context: WebdavContext): Dav {
  const {env, options, projectSlug} = context;
  const [username = '', password = ''] = credentialNames.map((name) => env[name]);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  // The host knows the password, but not what it looks like here.
  context.maskSecret(credentials);
  const base = `${(options.url ?? '').replace(/\/*$/, '')}/${encodeURIComponent(projectSlug)}/`;
  const http = context.http.extend({prefixUrl: base, headers: {authorization: `Basic ${credentials}`}});

  /** Sends a request. Resolves to undefined if it has one of the `expected` statuses. */
  async function send(path: string, request: HttpOptions, ...expected: number[]): Promise<HttpResponse | undefined> {
    try {
      return await http(path, request);
    } catch (error) {
      if (expected.includes((error as HttpError).status ?? 0)) return undefined;
      throw error;
    }
  }

  return {
    base,
    http,
    error: context.error,
    async makeFolders(paths) {
      for (const path of paths) {
        // 405: it exists.
        const make = () => send(path, {method: 'MKCOL', repeatable: true}, 405);
        // Of two that make a folder at the same time, Apache answers one with 403: a refusal that lasts comes again.
        await make().catch((error: unknown) => {
          if ((error as HttpError).status !== 403) throw error;
          return make();
        });
      }
    },
    async list(folder) {
      const request = {method: 'PROPFIND', headers: {...xml, depth: '1'}, body: listBody, repeatable: true};
      const answer = await send(folder, request, 404);
      return answer === undefined ? [] : namesIn(answer.body, base);
    },
    async read(path, schema) {
      const answer = await send(path, {}, 404);
      // A file that was locked before it was written is empty on some servers.
      return answer === undefined || answer.body === '' ? undefined : v.parse(schema, JSON.parse(answer.body));
    },
    async write(path, body) {
      await send(path, {...body, method: 'PUT', repeatable: true});
    },
    async move(from, to) {
      const destination = new URL(to, base).href;
      await send(from, {method: 'MOVE', headers: {destination, overwrite: 'F'}});
    },
    async remove(path) {
      return (await send(path, {method: 'DELETE', repeatable: true}, 404)) !== undefined;
    },
    async locked(path, work) {
      const headers = {...xml, depth: '0', timeout: `Second-${lockSeconds}`};
      const answer = await send(path, {method: 'LOCK', headers, body: lockBody}, 423);
      const token = answer?.headers['lock-token'];
      if (answer === undefined) throw context.error('ERR_TARGET_BUSY', `${base}${path} is locked`);
      if (typeof token !== 'string') {
        throw context.error('ERR_RESPONSE_INVALID', `The lock of ${base}${path} has no token`);
      }
      const unlock = (client: HttpClient) => client(path, {method: 'UNLOCK', headers: {'lock-token': token}});
      context.onAbort(async (cleanup) => {
        await unlock(cleanup.http.extend({prefixUrl: base, headers: {authorization: `Basic ${credentials}`}}));
      });
      try {
        return await work({if: `(${token})`});
      } finally {
        // What was done is done, and the lock ends by itself.
        await unlock(http).catch(() => {
          context.logger.debug(`${base}${path} stays locked for up to ${lockSeconds} s.`);
        });
      }
    },
  };
}

/** The last part of each path in a multistatus. */
function namesIn(multistatus: string, base: string): readonly string[] {
  const hrefs = multistatus.matchAll(/<(?:\w+:)?href\b[^>]*>([^<]*)</g);
  return [...hrefs].flatMap(([, href = '']) => {
    const {pathname} = new URL(href.trim().replaceAll('&amp;', '&'), base);
    return /([^/]+)\/?$/.exec(pathname)?.[1] ?? [];
  });
}
