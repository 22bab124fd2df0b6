import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js';
import {openApiDocument} from '../../scripts/openapi-document.js';

/** A part of the document, as far as the tests read it. */
interface Referable {
  readonly $ref?: string;
  readonly 'x-only-hosted'?: boolean;
}

interface Schema extends Referable {
  readonly [keyword: string]: unknown;
}

interface Parameter extends Referable {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, {readonly schema: Schema}>>;

/** A documented answer. */
export interface DocumentedAnswer extends Referable {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

interface OperationObject {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {readonly content: Content};
  readonly responses: Readonly<Record<string, DocumentedAnswer>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

type PathItem = Readonly<Partial<Record<(typeof methods)[number], OperationObject>>> & {
  readonly parameters?: readonly Parameter[];
};

interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, DocumentedAnswer>>;
    readonly securitySchemes: Readonly<Record<string, {readonly type: string; readonly scheme?: string}>>;
  };
}

/** The document, as a server publishes it. */
export const document: Document = JSON.parse(JSON.stringify(openApiDocument()));

/** An operation with what applies to it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The media type of its body. */
  readonly bodyType: string | undefined;
  readonly bodySchema: Schema | undefined;
  /** `Bearer` or `Basic`; none: it needs no credentials. */
  readonly schemes: readonly string[];
  /** Whether what is in the body may stand in for them. */
  readonly isOpen: boolean;
  readonly answers: Readonly<Record<string, DocumentedAnswer>>;
}

/** Follows a reference. */
function resolve<Value extends Referable>(value: Value): Value {
  if (value.$ref === undefined) return value;
  const path = value.$ref.slice(2).split('/');
  return path.reduce<unknown>((part, key) => Reflect.get(Object(part), key), document) as Value;
}

/** Every operation of the document. */
export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  methods.flatMap((method) => {
    const operation = item[method];
    if (!operation) return [];
    const [bodyType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve),
      bodyType,
      bodySchema: body?.schema,
      schemes: operation.security.flatMap(Object.keys).map(schemeOf),
      isOpen: operation.security.some((scheme) => Object.keys(scheme).length === 0),
      answers: Object.fromEntries(
        Object.entries(operation.responses).map(([status, answer]) => [status, resolve(answer)]),
      ),
    };
  }),
);

function schemeOf(name: string): string {
  return document.components.securitySchemes[name]?.scheme === 'basic' ? 'Basic' : 'Bearer';
}

const segmentsOf = (path: string) => path.replace(/\/$/, '').split('/');

/** The operation that serves a path, and the values in the path. Those with fewer parameters go first. */
export function operationAt(
  method: string,
  path: string,
): {readonly operation: Operation; readonly values: Readonly<Record<string, string>>} | undefined {
  const given = segmentsOf(path);
  const matches = operations.flatMap((operation) => {
    const expected = segmentsOf(operation.path);
    if (operation.method !== method.replace('HEAD', 'GET') || expected.length !== given.length) return [];
    const values: Record<string, string> = {};
    for (const [index, part] of expected.entries()) {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      const value = decoded(given[index] ?? '');
      if (name === undefined ? value !== part : value === '') return [];
      if (name !== undefined) values[name] = value;
    }
    return [{operation, values}];
  });
  return matches.sort((a, b) => Object.keys(a.values).length - Object.keys(b.values).length)[0];
}

/** A part of a path; as it was sent, if that is not valid. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The documented answer with a status, and its name in the document. */
export function answerOf({answers}: Operation, status: number): readonly [string, DocumentedAnswer] | undefined {
  const names = [String(status), `${String(status)[0] ?? ''}XX`];
  const name = names.find((candidate) => candidate in answers);
  const answer = name === undefined ? undefined : answers[name];
  return name === undefined || answer === undefined ? undefined : [name, answer];
}

/**
 * How closely a document has to fit: `open` as published; `request`: without members that are not described; `local`:
 * with every member that is described, except those of hosted services, and no other.
 */
export type Strictness = 'open' | 'request' | 'local';

function tighten(value: unknown, strictness: Strictness): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => tighten(item, strictness));
  const tight = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, tighten(member, strictness)]));
  const {properties} = value as {readonly properties?: Readonly<Record<string, Referable>>};
  if (strictness === 'open' || typeof properties !== 'object' || 'properties' in properties) return tight;
  const closed: Readonly<Record<string, unknown>> = {additionalProperties: false, ...tight};
  if (strictness === 'request') return closed;
  const here = Object.keys(properties).filter((name) => properties[name]?.['x-only-hosted'] !== true);
  const members = tight['properties'] as Readonly<Record<string, unknown>>;
  return {
    ...closed,
    properties: Object.fromEntries(here.map((name) => [name, members[name]])),
    // Of a document that is described elsewhere, only some members are.
    ...(closed['additionalProperties'] === true ? {} : {required: here}),
  };
}

const formats = {
  binary: true,
  uri: (text: string) => URL.canParse(text),
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
} as const;

const compilers = new Map<Strictness, Ajv2020>();

function compilerOf(strictness: Strictness): Ajv2020 {
  const known = compilers.get(strictness);
  if (known) return known;
  const ajv = new Ajv2020({allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false});
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  ajv.addVocabulary(['x-only-hosted', 'x-only-local']);
  const schemas = JSON.stringify(tighten(document.components.schemas, strictness));
  ajv.addSchema({$id: 'wire', $defs: JSON.parse(schemas.replaceAll('#/components/schemas/', '#/$defs/'))});
  compilers.set(strictness, ajv);
  return ajv;
}

const validators = new Map<string, ValidateFunction>();

/** How a value departs from a schema. */
export function departures(schema: Schema, value: unknown, strictness: Strictness): readonly string[] {
  const key = `${strictness} ${JSON.stringify(schema)}`;
  let validate = validators.get(key);
  if (!validate) {
    const text = JSON.stringify(tighten(schema, strictness)).replaceAll('#/components/schemas/', 'wire#/$defs/');
    validate = compilerOf(strictness).compile(JSON.parse(text));
    validators.set(key, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({instancePath, message = '', params}) => {
    const {additionalProperty} = params as {readonly additionalProperty?: string};
    return `${instancePath || 'it'} ${message}${additionalProperty === undefined ? '' : `: ${additionalProperty}`}`;
  });
}
