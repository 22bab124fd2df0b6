import {rm} from 'node:fs/promises';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import type busboy from 'busboy';
import {validate, HttpFailure} from '../answer.js';
import {param, type AdmittedCall, type Call} from '../context.js';
import {storeStream, type StoredFile} from '../store/data-folder.js';
import type {BundleRecord} from '../store/store.js';
import {legacy} from '../wire/legacy-schemas.js';
import {bundleFields} from '../wire/schemas.js';
import {checkV1Bundle, checkV2Bundle, type CheckedBundle} from './check-bundle.js';
import {V1BodyReader} from './v1-body-reader.js';

/** An accepted bundle, and what the client is told about it. */
export interface AcceptedUpload extends Pick<CheckedBundle, 'matches' | 'warnings'> {
  readonly bundle: BundleRecord;
}

/**
 * Receives a v2 bundle: multipart, streamed to disk, then checked.
 * @throws HttpFailure 400 for an invalid form, 413, 415, and 422 for an invalid archive.
 */
export async function receiveV2(call: AdmittedCall, projectSlug: string): Promise<AcceptedUpload> {
  const {limits, turns, maxUploadBytes} = call.context;
  return receive(call, async (archive) => {
    const {stored, fields} = await receiveMultipart(call, {archive, limit: maxUploadBytes});
    const given = validate(bundleFields, fields, {status: 400, what: 'The form'});
    const checked = await turns.take(() => checkV2Bundle(archive, {...given, limits}));
    return {stored, checked, bundle: {projectSlug, format: 'v2', message: given.message}};
  });
}

/**
 * Receives a v1 bundle: JSON with base64, decoded while it is written to disk, then checked.
 * @throws HttpFailure 400 for an invalid document, 413, 415, and 422 for an invalid archive.
 */
export async function receiveV1(call: AdmittedCall): Promise<AcceptedUpload> {
  const {limits, turns, maxUploadBytes} = call.context;
  const projectSlug = param(call, 'projectSlug');
  call.body.refuseOtherTypes('application/json');
  return receive(call, async (archive) => {
    const reader = new V1BodyReader();
    const stored = await storeStream(decoded(call.body.read(maxUploadBytes), reader), archive);
    const document = validate(legacy.LegacyV1Bundle, reader.end(), {status: 400, what: 'The body'});
    const {data: _, ...rest} = document;
    for (const [name, value] of Object.entries(rest)) {
      call.body.notePart(name, Buffer.byteLength(JSON.stringify(value)));
    }
    call.body.notePart('data, decoded', stored.size);
    const {ssr_only: ssrOnly, ssr_shared: ssrShared, ssr_parameters: ssrParameters} = document;
    const lists = {ssrOnly, ssrShared, ssrParameters};
    const checked = await turns.take(() => checkV1Bundle(archive, {projectSlug, ...lists, limits}));
    return {stored, checked, bundle: {projectSlug, format: 'v1', message: document.message}};
  });
}

/** An archive in the folder of an upload, checked. */
interface Received {
  readonly stored: StoredFile;
  readonly checked: CheckedBundle;
  readonly bundle: Pick<BundleRecord, 'projectSlug' | 'format' | 'message'>;
}

/** Reads an upload into a folder, and moves that into the store as a bundle. */
async function receive(
  {context: {store, now}, user: createdBy}: AdmittedCall,
  read: (archive: string) => Promise<Received>,
): Promise<AcceptedUpload> {
  const folder = await store.createTemporaryFolder();
  try {
    const {stored, checked, bundle} = await read(path.join(folder, 'archive'));
    const {ssrParameters, files, matches, warnings, root, configPath} = checked;
    const serverOnly = new Set(matches.ssrOnly);
    const served = files.filter((file) => !serverOnly.has(file));
    const shared = configPath === undefined ? [...matches.ssrShared] : undefined;
    const record = {...bundle, ...stored, ssrParameters, createdAt: now().toISOString(), createdBy};
    return {bundle: await store.addBundle(folder, record, {root, served, configPath, shared}), matches, warnings};
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

async function* decoded(body: AsyncIterable<Buffer>, reader: V1BodyReader): AsyncGenerator<Buffer> {
  for await (const piece of body) yield reader.push(piece);
}

const maxFieldBytes = 64 * 1024;
const maxFields = 16;

/** A form with one file. */
interface ReceivedForm {
  /** The part `bundle`. */
  readonly stored: StoredFile;
  /** The other parts, all text. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Receives `multipart/form-data`: streams the part `bundle`, a file with a name, into the new file `archive`, and
 * collects the text fields.
 * @throws HttpFailure 415 for another content type, 413 above `limit` bytes, 400 for a form that is malformed, or has
 * other files, a duplicate part or no bundle.
 */
async function receiveMultipart(
  call: Pick<Call, 'request' | 'body'>,
  {archive, limit}: {readonly archive: string; readonly limit: number},
): Promise<ReceivedForm> {
  const parser = await createParser(call);
  const fields = new Map<string, string>();
  const storing: Promise<StoredFile>[] = [];
  const refuse = (detail: string): void => {
    parser.destroy(new HttpFailure(400, detail));
  };
  parser.on('file', (name: string, content: Readable, {filename}: busboy.FileInfo) => {
    content.on('error', () => undefined);
    if (name !== 'bundle') refuse(`The form has an unknown file "${name}".`);
    else if (storing.length > 0) refuse('The form has the part "bundle" twice.');
    else if (!filename) refuse('The part "bundle" of the form has no filename.');
    else {
      const stored = storeStream(content, archive);
      stored.then(
        ({size}) => {
          call.body.notePart(name, size);
        },
        (error: unknown) => parser.destroy(asError(error)),
      );
      storing.push(stored);
    }
  });
  parser.on('field', (name: string, value: string, {nameTruncated, valueTruncated}: busboy.FieldInfo) => {
    call.body.notePart(name, Buffer.byteLength(value));
    if (nameTruncated || valueTruncated) refuse('The form has a field that is too long.');
    else if (name === 'bundle') refuse('The part "bundle" of the form has no filename.');
    else if (fields.has(name)) refuse(`The form has the field "${name}" twice.`);
    else fields.set(name, value);
  });
  parser.on('fieldsLimit', () => {
    refuse('The form has too many fields.');
  });
  try {
    await pipeline(call.body.read(limit), parser);
  } catch (error) {
    await Promise.allSettled(storing);
    throw formFailure(error);
  }
  const stored = await storing[0];
  if (!stored) throw new HttpFailure(400, 'The form has no part "bundle".');
  return {stored, fields: Object.fromEntries(fields)};
}

async function createParser({request, body}: Pick<Call, 'request' | 'body'>): Promise<busboy.Busboy> {
  body.refuseOtherTypes('multipart/form-data');
  const {default: createBusboy} = await import('busboy');
  try {
    return createBusboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      limits: {fieldSize: maxFieldBytes, fields: maxFields},
    });
  } catch (error) {
    throw formFailure(error);
  }
}

/** The parser's own errors are the client's fault; system errors, which have a code, are not. */
function formFailure(error: unknown): unknown {
  if (error instanceof HttpFailure || !(error instanceof Error) || 'code' in error) return error;
  return new HttpFailure(400, `The form cannot be read: ${error.message}.`);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
