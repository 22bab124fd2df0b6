import {listOption, option} from './option.js';

const group = 'CONNECTION';
const secretHelp = '@FILE reads it from a file, - from stdin.';

/** Which project, which backend, and how to reach it. */
export const connectionFlags = {
  project: option(group, 'project', {char: 'p', helpValue: 'SLUG', summary: 'Project; for Api the storefront id.'}),
  target: option(group, 'target', {char: 't', helpValue: 'SLUG', summary: 'Target; for Api the environment id.'}),
  'runtime-backend': option(group, 'runtime-backend', {
    helpValue: 'NAME',
    summary: 'auto (default), api, legacy, or the name of a backend from a plugin.',
  }),
  origin: option(group, 'origin', {helpValue: 'URL', summary: 'Address of the hosting service (legacy backend).'}),
  'api-key': option(group, 'api-key', {
    helpValue: 'KEY',
    summary: `API key for the legacy backend. ${secretHelp}`,
  }),
  'api-user': option(group, 'api-user', {
    helpValue: 'NAME',
    summary: 'User of the API key: basic instead of bearer authentication.',
  }),
  'api-origin': option(group, 'api-origin', {helpValue: 'URL', summary: 'Address of the Api backend.'}),
  organization: option(group, 'organization', {helpValue: 'ID', summary: 'Organization id (Api backend).'}),
  'token-url': option(group, 'token-url', {helpValue: 'URL', summary: 'OAuth token endpoint (Api backend).'}),
  'client-id': option(group, 'client-id', {helpValue: 'ID', summary: 'OAuth client id (Api backend).'}),
  'client-secret': option(group, 'client-secret', {
    helpValue: 'SECRET',
    summary: `OAuth client secret (Api backend). ${secretHelp}`,
  }),
  scope: listOption(group, 'scope', {helpValue: 'SCOPE', summary: 'OAuth scope (Api backend); repeatable.'}),
  'api-token': option(group, 'api-token', {
    helpValue: 'TOKEN',
    summary: `Ready-made access token (Api backend), instead of client id and secret. ${secretHelp}`,
  }),
  'request-timeout': option(group, 'request-timeout', {
    helpValue: 'SECONDS',
    summary: 'Longest wait for an answer after the last byte of a request; default 300.',
  }),
  'backend-option': listOption(group, 'backend-option', {
    helpValue: 'KEY=VALUE',
    summary: "Option of a plugin's backend; values may be JSON; repeatable.",
  }),
};
