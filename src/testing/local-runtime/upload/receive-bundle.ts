import {rm} from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import {matchModeSchema} from '../../../bundle/option-schemas.js';
import {checkV1Bundle} from '../archive/check-v1-bundle.js';
import {checkV2Bundle, type CheckedBundle} from '../archive/check-v2-bundle.js';
import {param, type AdmittedCall} from '../context.js';
import {storeStream, type StoredFile} from '../store/durable-files.js';
import type {BundleRecord} from '../store/records.js';
import {objectOf, validate} from '../validate.js';
import {receiveMultipart} from './receive-multipart.js';
import {V1BodyReader} from './v1-body-reader.js';

/** A bundle that was accepted, and what the client is told of it. */
export interface AcceptedUpload extends Pick<CheckedBundle, 'matches' | 'warnings'> {
  readonly bundle: BundleRecord;
}

const message = v.pipe(v.string(), v.maxLength(2048));

const relativePath = v.pipe(
  v.string(),
  v.maxLength(256),
  v.check((value) => /^[^/\\\0]+(?:\/[^/\\\0]+)*$/.test(value), 'not a relative path'),
  v.check((value) => !value.split('/').some((part) => part === '.' || part === '..'), 'not a plain relative path'),
);

const v2FieldsSchema = v.strictObject({
  message: v.optional(message, ''),
  rootDir: v.optional(relativePath, 'bld'),
  configPath: v.optional(relativePath, '.runtime/config.json'),
  matchMode: v.optional(matchModeSchema, 'strict'),
});

const v1BodySchema = v.object({
  message,
  encoding: v.literal('base64'),
  ssr_parameters: objectOf(v.unknown()),
  ssr_only: v.array(v.string()),
  ssr_shared: v.array(v.string()),
  bundle_metadata: v.optional(objectOf(v.unknown())),
});

/**
 * Receives a v2 bundle: multipart, streamed to the disk, then checked.
 * @throws HttpFailure 400 for a wrong form, 413, 415, and 422 for a wrong archive.
 */
export async function receiveV2(call: AdmittedCall, projectSlug: string): Promise<AcceptedUpload> {
  const {limits, maxUploadBytes} = call.context;
  return receive(call, async (archive) => {
    const {stored, fields} = await receiveMultipart(call, {archive, limit: maxUploadBytes});
    const given = validate(v2FieldsSchema, fields, {status: 400, what: 'The form'});
    const checked = await checkV2Bundle(archive, {...given, limits});
    return {stored, checked, bundle: {projectSlug, format: 'v2', message: given.message}};
  });
}

/**
 * Receives a v1 bundle: JSON, whose base64 is decoded on its way to the disk, then checked.
 * @throws HttpFailure 400 for a wrong document, 413, 415, and 422 for a wrong archive.
 */
export async function receiveV1(call: AdmittedCall): Promise<AcceptedUpload> {
  const {limits, maxUploadBytes} = call.context;
  const projectSlug = param(call, 'projectSlug');
  call.body.refuseOtherTypes('application/json');
  return receive(call, async (archive) => {
    const reader = new V1BodyReader();
    const stored = await storeStream(decoded(call.body.read(maxUploadBytes), reader), archive);
    const document = validate(v1BodySchema, reader.end(), {status: 400, what: 'The body'});
    const {ssr_only: ssrOnly, ssr_shared: ssrShared, ssr_parameters: ssrParameters} = document;
    const checked = await checkV1Bundle(archive, {projectSlug, ssrOnly, ssrShared, ssrParameters, limits});
    return {stored, checked, bundle: {projectSlug, format: 'v1', message: document.message}};
  });
}

interface Received {
  readonly stored: StoredFile;
  readonly checked: CheckedBundle;
  readonly bundle: Pick<BundleRecord, 'projectSlug' | 'format' | 'message'>;
}

async function receive(
  {context, user}: AdmittedCall,
  read: (archive: string) => Promise<Received>,
): Promise<AcceptedUpload> {
  const {store, now} = context;
  const folder = await store.createTemporaryFolder();
  try {
    const {stored, checked, bundle} = await read(path.join(folder, 'archive'));
    const {ssrParameters, files, matches, warnings, root} = checked;
    const serverOnly = new Set(matches.ssrOnly);
    const served = files.filter((file) => !serverOnly.has(file));
    const record = {...bundle, ...stored, ssrParameters, createdAt: now().toISOString(), createdBy: user};
    return {bundle: await store.addBundle(folder, record, {root, served}), matches, warnings};
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

async function* decoded(body: AsyncIterable<Buffer>, reader: V1BodyReader): AsyncGenerator<Buffer> {
  for await (const piece of body) yield reader.push(piece);
}
