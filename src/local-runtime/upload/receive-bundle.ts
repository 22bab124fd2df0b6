import {rm} from 'node:fs/promises';
import path from 'node:path';
import type {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import type busboy from 'busboy';
import {validate, HttpFailure} from '../answer.js';
import {projectOf, type Call} from '../runtime-context.js';
import {storeStream} from '../store/data-folder.js';
import type {BundleRecord} from '../store/store.js';
import {bundleFields} from '../../wire/bundles.js';
import {legacySchemas} from '../../wire/legacy.js';
import {checkV1Bundle, checkV2Bundle, refuseUnfitNames, type CheckedBundle} from './check-bundle.js';
import {V1BodyReader} from './v1-body-reader.js';

export interface AcceptedUpload extends Pick<CheckedBundle, 'matches' | 'warnings'> {
  readonly bundle: BundleRecord;
}

/** Receives a v2 bundle: multipart, streamed to disk, then checked. */
export async function receiveV2(call: Call): Promise<AcceptedUpload> {
  return receive(call, async (archive) => {
    const fields = validate(bundleFields, await receiveMultipart(call, archive), 'The form');
    const checked = await checkV2Bundle(archive, fields);
    return {checked, format: 'v2', message: fields.message};
  });
}

/** Receives a v1 bundle: JSON with base64, decoded while it is written to disk, then checked. */
export async function receiveV1(call: Call): Promise<AcceptedUpload> {
  call.body.refuseOtherTypes('application/json');
  return receive(call, async (archive) => {
    const reader = new V1BodyReader();
    await storeStream(decoded(call, reader), archive);
    const document = validate(legacySchemas.LegacyV1Bundle, reader.end(), 'The body');
    const checked = await checkV1Bundle(archive, projectOf(call), document);
    return {checked, format: 'v1', message: document.message};
  });
}

type Received = Pick<BundleRecord, 'format' | 'message'> & {readonly checked: CheckedBundle};

/** Reads an upload into a folder, and moves that into the store as a bundle. */
async function receive(call: Call, read: (archive: string) => Promise<Received>): Promise<AcceptedUpload> {
  const {store, now} = call.context;
  const folder = await store.createTemporaryFolder();
  try {
    const {checked, ...upload} = await read(path.join(folder, 'archive'));
    const {size, sha256, ssrParameters, files, matches, warnings, root, configPath} = checked;
    await refuseUnfitNames(files, folder);
    const serverOnly = new Set(matches.ssrOnly);
    const served = files.filter((file) => !serverOnly.has(file));
    const shared = configPath === undefined ? [...matches.ssrShared] : undefined;
    const created = {projectSlug: projectOf(call), createdAt: now().toISOString(), createdBy: call.user};
    const record = {...upload, ...created, size, sha256, ssrParameters};
    return {bundle: await store.addBundle(folder, record, {root, served, configPath, shared}), matches, warnings};
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

async function* decoded({body, context}: Call, reader: V1BodyReader): AsyncGenerator<Buffer> {
  for await (const piece of body.read(context.maxUploadBytes)) yield reader.push(piece);
}

/** Without them, a form could fill the memory. */
const limits = {fieldSize: 64 * 1024, fields: 16};

/** Streams the part `bundle`, a file with a name, into the new file `archive`, and collects the text fields. */
async function receiveMultipart({request, body, context}: Call, archive: string) {
  body.refuseOtherTypes('multipart/form-data');
  const {default: createBusboy} = await import('busboy');
  const fields = new Map<string, string>();
  let storing: Promise<void> | undefined;
  try {
    const parser = createBusboy({headers: request.headers, defParamCharset: 'utf8', limits});
    const refuse = (detail: string) => void parser.destroy(new HttpFailure(400, detail));
    parser.on('file', (name: string, content: Readable, {filename}: busboy.FileInfo) => {
      content.on('error', () => undefined);
      if (name !== 'bundle') refuse(`The form has an unknown file "${name}".`);
      else if (storing) refuse('The form has the part "bundle" twice.');
      else if (!filename) refuse('The part "bundle" of the form has no filename.');
      else {
        storing = storeStream(content, archive);
        // A full disk, for example, which the parser would not notice.
        storing.catch((error: unknown) => parser.destroy(error instanceof Error ? error : undefined));
      }
    });
    parser.on('field', (name: string, value: string, {valueTruncated}: busboy.FieldInfo) => {
      if (valueTruncated) refuse(`The field "${name}" of the form is too long.`);
      else if (fields.has(name)) refuse(`The form has the field "${name}" twice.`);
      else fields.set(name, value);
    });
    parser.on('fieldsLimit', () => refuse('The form has too many fields.'));
    await pipeline(body.read(context.maxUploadBytes), parser);
  } catch (error) {
    await Promise.allSettled([storing]);
    // The parser's own errors are the client's fault; system errors, which have a code, are not.
    if (error instanceof HttpFailure || !(error instanceof Error) || 'code' in error) throw error;
    throw new HttpFailure(400, `The form cannot be read: ${error.message}.`);
  }
  if (!storing) throw new HttpFailure(400, 'The form has no part "bundle".');
  await storing;
  return Object.fromEntries(fields);
}
