import type {BackendsHook} from 'mycli/backend';
import {s3Backend} from '../backend.js';

/** Provides the backend to the host. */
const hook: BackendsHook = async () => ({backends: [s3Backend]});

export default hook;
