import {json, HttpFailure} from '../answer.js';
import {param, type AdmittedCall, type Call, type Protocol, type RuntimeContext} from '../context.js';
import type {BundleRecord} from '../store/records.js';
import {secretsEqual, sign} from '../signatures.js';
import {sendFile} from '../send-file.js';
import {verifyOwnFile} from '../store/data-folder.js';

/** Where presigned URLs lead. */
export const archivePrefix = '/api/archives/';

const validMilliseconds = 3600 * 1000;

/** Presigned URLs: they allow downloading the archive for an hour, without credentials. */
export const archiveProtocol: Protocol = {
  prefix: archivePrefix,
  routes: [{method: 'GET', path: `${archivePrefix}{projectSlug}/{bundleId}`, name: 'archive', handle: download}],
  admit: checkSignature,
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};

/** A presigned URL of a bundle's archive. */
export function presignedUrl(
  {projectSlug, id}: BundleRecord,
  {context, origin}: Pick<Call, 'context' | 'origin'>,
): string {
  const path = `${archivePrefix}${encodeURIComponent(projectSlug)}/${String(id)}`;
  const expires = String(context.now().getTime() + validMilliseconds);
  const signature = signatureOf(path, expires, context);
  return `${origin}${path}?${new URLSearchParams({expires, signature}).toString()}`;
}

function signatureOf(path: string, expires: string, {credentials}: RuntimeContext): string {
  return sign(`${path} ${expires}`, credentials.clientSecret);
}

function checkSignature({path, query, context}: Call): string {
  const [expires, signature] = [query.get('expires') ?? '', query.get('signature') ?? ''];
  if (!secretsEqual(signature, signatureOf(path, expires, context))) {
    throw new HttpFailure(403, 'The signature of the URL is invalid.');
  }
  if (Number(expires) < context.now().getTime()) throw new HttpFailure(403, 'The URL has expired.');
  return 'presigned';
}

async function download(call: AdmittedCall): Promise<Response> {
  const {store, stallSeconds} = call.context;
  const bundle = store.bundle(param(call, 'projectSlug'), Number(param(call, 'bundleId')));
  if (!bundle) throw new HttpFailure(404, 'The bundle was deleted.');
  const file = store.archivePath(bundle.id);
  await verifyOwnFile(file);
  const modified = new Date(bundle.createdAt);
  const headers = {'content-type': 'application/octet-stream'};
  return sendFile(file, call, {etag: bundle.sha256, modified, headers, stallSeconds});
}
