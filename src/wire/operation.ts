import type * as v from 'valibot';
import type {PathParameter} from './parameters.js';
import type {WireRoute} from './routes.js';
import type {Part} from './schema.js';

/** A request and its answer, with what the document says of them. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With a colon before each name, as Hono has it. A server serves it with a final slash and without. */
  readonly path: string;
  readonly route: WireRoute;
  readonly summary: string;
  readonly description?: string;
  /** A JSON body, which is validated as a whole. */
  readonly json?: v.GenericSchema;
  /** A body that is read as a stream. */
  readonly stream?: {readonly type: string; readonly schema: v.GenericSchema};
  /** Of one that answers with a part of a list. */
  readonly query?: v.GenericSchema;
  /** None: there is no body. */
  readonly answer?: v.GenericSchema;
  /**
   * What accepted requests are answered with: the status of the local runtime, then others that clients accept. They
   * have the same body, 204 none. @default [200]
   */
  readonly statuses?: readonly [number, ...number[]];
  /** Whether it is refused while a deployment runs. */
  readonly mayConflict?: boolean;
  /** What a service answers that has no such operation. @default every service has it */
  readonly lacking?: readonly number[];
  /** What clients can't do then. @default `route` */
  readonly capability?: string;
  /** More parts of the operation in the document, and of its responses. */
  readonly marks?: Part;
  readonly responses?: Readonly<Record<string, Part>>;
}

const withMethod =
  <const Method extends Operation['method']>(method: Method) =>
  <const More extends Omit<Operation, 'method' | 'path' | 'route' | 'summary'>>(
    path: string,
    route: WireRoute,
    summary: string,
    more: More,
  ) => ({method, path, route, summary, ...more});

export const get = withMethod('GET');
export const post = withMethod('POST');
export const put = withMethod('PUT');
export const patch = withMethod('PATCH');
export const del = withMethod('DELETE');

/** A group of operations with the same credentials and the same form of refusals. */
export interface Half {
  readonly kind: 'Legacy' | 'Api' | 'OAuth';
  /** Begins the names that its operations have in the document. @default none */
  readonly prefix?: string;
  /** Names of the security schemes that it accepts. `assertion`: one in the body. */
  readonly security: readonly string[];
  readonly operations: Readonly<Record<string, Operation>>;
}

/** The path of a request, whose named parts have these values. */
export function pathOf(
  {path}: Pick<Operation, 'path'>,
  values: Readonly<Partial<Record<PathParameter, string>>>,
): string {
  const named: Readonly<Record<string, string | undefined>> = values;
  return path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, (_, name: string) => {
    const value = named[name];
    if (value === undefined) throw new Error(`Bug: there is no ${name} for ${path}.`);
    return encodeURIComponent(value);
  });
}
