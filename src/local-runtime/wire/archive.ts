import {secretsEqual, sign} from '../access.js';
import {HttpFailure, json} from '../answer.js';
import {param, type Call, type RuntimeContext} from '../context.js';
import {sendFile} from '../send-file.js';
import type {BundleRecord} from '../store/store.js';
import {operation, type WireProtocol} from './operation.js';
import {onlyLocal, type Part} from './schemas.js';

const prefix = '/api/archives/';
const validMilliseconds = 3600 * 1000;

const header = (name: string): Part => ({$ref: `#/components/headers/${name}`});
const headers = {'X-Request-Id': header('RequestId'), ETag: header('ETag'), 'Accept-Ranges': header('AcceptRanges')};
const content = {'application/octet-stream': {schema: {type: 'string', format: 'binary'}}};
const ofRange = {...headers, 'Content-Range': header('ContentRange')};
const parameter = (name: string, place: 'query' | 'header', description: string, more: Part = {}): Part => ({
  ...{name, in: place, description, schema: {type: 'string'}, ...more},
});

/** Presigned URLs: they allow downloading the archive for an hour, without credentials. */
export const archiveProtocol: WireProtocol = {
  ...({prefix, kind: 'Legacy', tag: 'legacy', security: [], admit: checkSignature} as const),
  failure: ({status, message, headers: more}) => json(status, {detail: message, message}, more),
  routes: [
    operation({
      ...({method: 'GET', path: `${prefix}{projectSlug}/{bundleId}`, name: 'archive', refuses: 'archive'} as const),
      id: 'downloadArchive',
      summary: 'Download an archive',
      description:
        'Where the presigned URLs of the local runtime lead. Those of another server may lead anywhere. They need no ranges, but with them and a strong `ETag`, clients resume an interrupted download.',
      marks: {
        ...onlyLocal,
        parameters: [
          parameter('expires', 'query', 'A part of the URL.', {required: true}),
          parameter('signature', 'query', 'A part of the URL.', {required: true}),
          parameter('Range', 'header', 'The part of the archive that is missing.', {example: 'bytes=1048576-'}),
          parameter(
            'If-Range',
            'header',
            'The `ETag` of the part that the client has. If it is another one by now, the answer is 200.',
          ),
          parameter('If-None-Match', 'header', 'An `ETag` that the client has.'),
        ],
      },
      answer: {
        status: 200,
        description: 'The archive.',
        others: {
          '200': {description: 'The archive.', headers, content},
          '206': {description: 'The requested part of the archive.', headers: ofRange, content},
          '304': {description: 'The archive is the one that the client has.', headers},
          '416': {description: 'The archive ends before the requested part.', headers: ofRange},
        },
      },
      async handle(call) {
        const {store, stallSeconds} = call.context;
        const bundle = store.bundle(param(call, 'projectSlug'), Number(param(call, 'bundleId')));
        if (!bundle) throw new HttpFailure(404, 'The bundle was deleted.');
        return sendFile(store.archivePath(bundle.id), call, {
          etag: bundle.sha256,
          modified: new Date(bundle.createdAt),
          headers: {'content-type': 'application/octet-stream'},
          stallSeconds,
        });
      },
    }),
  ],
};

/** A presigned URL of a bundle's archive. */
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
