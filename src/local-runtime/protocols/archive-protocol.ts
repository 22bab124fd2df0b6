import {json, HttpFailure, type Answer} from '../answer.js';
import {param, type AdmittedCall, type Call, type Protocol, type RuntimeContext} from '../context.js';
import type {BundleRecord} from '../store/records.js';
import {secretsEqual, sign} from '../signatures.js';
import {fileAnswer} from './file-answer.js';

/** Where presigned URLs lead. */
export const archivePrefix = '/api/archives/';

const validMilliseconds = 3600 * 1000;

/** Presigned URLs: they allow downloading the archive for an hour, without credentials. */
export const archiveProtocol: Protocol = {
  prefix: archivePrefix,
  anyFinalSlash: true,
  routes: [{method: 'GET', pattern: '{projectSlug}/{bundleId}', name: 'archive', handle: download}],
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

async function download(call: AdmittedCall): Promise<Answer> {
  const {store} = call.context;
  const bundle = store.bundle(param(call, 'projectSlug'), Number(param(call, 'bundleId')));
  const headers = {'content-type': 'application/octet-stream'};
  const answer =
    bundle &&
    (await fileAnswer(call.request, {
      file: store.archivePath(bundle.id),
      etag: bundle.sha256,
      modified: new Date(bundle.createdAt),
      headers,
    }));
  if (!answer) throw new HttpFailure(404, 'The bundle was deleted.');
  return answer;
}
