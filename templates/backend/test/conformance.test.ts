import {test} from 'node:test';
import {backendConformance} from 'mycli/testing';
import {backend} from '../src/backend.js';
import {openService} from './service.js';

for (const {name, skip, run} of backendConformance(() => backend, {openService}))
  test(name, {skip: skip ?? false}, run);
