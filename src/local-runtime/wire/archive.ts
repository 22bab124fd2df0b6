import {createHmac} from 'node:crypto';
import {secretsEqual} from '../access.js';
import {failureAnswer, HttpFailure} from '../answer.js';
import {param, type Call, type RuntimeContext} from '../context.js';
import {sendFile} from '../send-file.js';
import type {BundleRecord} from '../store/store.js';
import {operation, type WireProtocol} from './operation.js';
import {onlyLocal} from './schemas.js';

const prefix = '/api/archives/';
const validMilliseconds = 3600 * 1000;

const file = {content: {'application/octet-stream': {schema: {type: 'string', format: 'binary'}}}};

/** Presigned URLs: they allow downloading the archive for an hour, without credentials. */
export const archiveProtocol: WireProtocol = {
  prefix,
  kind: 'Legacy',
  security: [],
  admit: checkSignature,
  failure: failureAnswer,
  routes: [
    operation('GET', `${prefix}:projectSlug/:bundleId{\\d+}`, 'archive', {
      id: 'downloadArchive',
      summary: 'Download an archive',
      description:
        'Where the presigned URLs of the local runtime lead. Those of another server may lead anywhere. They need no ranges, but with them and a strong `ETag`, clients resume an interrupted download.',
      marks: onlyLocal,
      responses: {
        '200': {description: 'The archive.', ...file},
        '206': {description: 'The requested part of the archive.', ...file},
        '304': {description: 'The archive is the one that the client has.'},
        '416': {description: 'The archive ends before the requested part.'},
      },
      async handle(call) {
        const {store} = call.context;
        const bundle = store.bundle(param(call, 'projectSlug'), Number(param(call, 'bundleId')));
        if (!bundle) throw new HttpFailure(404, 'The bundle was deleted.');
        return sendFile(store.archivePath(bundle.id), call, {
          etag: bundle.sha256,
          modified: new Date(bundle.createdAt),
          headers: {'content-type': 'application/octet-stream'},
        });
      },
    }),
  ],
};

export function presignedUrl(
  {projectSlug, id}: BundleRecord,
  {context, origin}: Pick<Call, 'context' | 'origin'>,
): string {
  const path = `${prefix}${encodeURIComponent(projectSlug)}/${id}`;
  const expires = String(context.now().getTime() + validMilliseconds);
  const signature = signatureOf(path, expires, context);
  return `${origin}${path}?${new URLSearchParams({expires, signature}).toString()}`;
}

function signatureOf(path: string, expires: string, {credentials}: RuntimeContext): string {
  return createHmac('sha256', credentials.clientSecret).update(`${path} ${expires}`).digest('base64url');
}

function checkSignature({path, query, context}: Call): string {
  const [expires, signature] = [query.get('expires') ?? '', query.get('signature') ?? ''];
  if (!secretsEqual(signature, signatureOf(path, expires, context))) {
    throw new HttpFailure(403, 'The signature of the URL is invalid.');
  }
  if (Number(expires) < context.now().getTime()) throw new HttpFailure(403, 'The URL has expired.');
  return 'presigned';
}
