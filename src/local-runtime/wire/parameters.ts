import * as v from 'valibot';
import {validate} from '../answer.js';
import {legacy} from './legacy-schemas.js';
import {api, common, exampleId, say, text, wholeNumber} from './schemas.js';

const openApiDocument = v.pipe(
  v.looseObject({openapi: text('Version of the format.')}),
  say('An OpenAPI document.', {additionalProperties: true}),
);

/** The bodies of requests and answers, by their names in the document. */
export const schemas = {...common, ...api, ...legacy, OpenApiDocument: openApiDocument};

/** What can be called a project or an environment of the Api backend. */
const identifier = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9]+(?:-+[a-z0-9]+)*$/, 'must be lowercase letters, digits and inner hyphens'),
);
const slug = v.pipe(
  v.string(),
  v.nonEmpty('must not be empty'),
  v.check((value) => value !== '.' && value !== '..' && !/[/\\\u0000-\u001f\u007f]/.test(value), 'is not a valid slug'),
);

export const pathParameters = {
  organizationId: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(32, 'must have 1 to 32 characters'),
    say('The organization of the client.', {examples: ['acme']}),
  ),
  storefrontId: v.pipe(identifier, say('The project.', {examples: ['shop']})),
  environmentId: v.pipe(identifier, say('The target.', {examples: ['staging']})),
  deploymentId: v.pipe(slug, say('The deployment.', {examples: [exampleId]})),
  projectSlug: v.pipe(slug, say('The project.', {examples: ['shop']})),
  targetSlug: v.pipe(slug, say('The target.', {examples: ['staging']})),
  bundleId: v.pipe(wholeNumber(0), say('The bundle.', {examples: [42]})),
} as const;

export const range = v.object({
  limit: v.optional(v.pipe(wholeNumber(1, 200), say('How many rows to return at most.')), 25),
  offset: v.optional(v.pipe(wholeNumber(0), say('How many rows to skip.')), 0),
});

export type Range = v.InferOutput<typeof range>;

const pathSchema = v.partial(v.object(pathParameters));

/** Checks the parts of a path. @throws HttpFailure 400. */
export function checkPath(params: Readonly<Record<string, string>>): void {
  const {bundleId} = params;
  const typed = bundleId === undefined ? params : {...params, bundleId: Number(bundleId)};
  validate(pathSchema, typed, 'The path');
}
