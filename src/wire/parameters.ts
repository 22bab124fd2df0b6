import * as v from 'valibot';
import {exampleId, identifier, say, wholeNumber} from './schema.js';

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
  fromPath: v.pipe(v.string(), v.nonEmpty(), say('What is redirected, percent-encoded.', {examples: ['/old']})),
  redirectId: v.pipe(slug, say('The redirect.', {examples: [exampleId]})),
  accessId: v.pipe(slug, say('The access header.', {examples: [exampleId]})),
} as const;

export type PathParameter = keyof typeof pathParameters;

export const range = v.object({
  limit: v.optional(v.pipe(wholeNumber(1, 200), say('How many rows to return at most.')), 25),
  offset: v.optional(v.pipe(wholeNumber(0), say('How many rows to skip.')), 0),
});

export type Range = v.InferOutput<typeof range>;
