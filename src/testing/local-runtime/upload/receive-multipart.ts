import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import type busboy from 'busboy';
import type {Call} from '../context.js';
import {HttpFailure} from '../http-failure.js';
import {storeStream, type StoredFile} from '../store/durable-files.js';

const maxFieldBytes = 64 * 1024;
const maxFields = 16;

/** A form with one file. */
export interface ReceivedForm {
  /** The part `bundle`. */
  readonly stored: StoredFile;
  /** The other parts, all text. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Receives `multipart/form-data`: streams the part `bundle`, a file with a name, into the new file `archive`, and
 * collects the text fields.
 * @throws HttpFailure 415 for another content type, 413 above `limit` bytes, 400 for a form that is broken or has other
 * files, a part twice or no bundle.
 */
export async function receiveMultipart(
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
      stored.catch((error: unknown) => parser.destroy(asError(error)));
      storing.push(stored);
    }
  });
  parser.on('field', (name: string, value: string, {nameTruncated, valueTruncated}: busboy.FieldInfo) => {
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

/** The parser's own complaints are the client's fault; those of the system, which have a code, are not. */
function formFailure(error: unknown): unknown {
  if (error instanceof HttpFailure || !(error instanceof Error) || 'code' in error) return error;
  return new HttpFailure(400, `The form cannot be read: ${error.message}.`);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
