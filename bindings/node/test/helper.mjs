// What the tests share: a temporary folder for each test file.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

export const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'crealm-node-'));
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
let last = 0;

export function fresh() {
  last += 1;
  return path.join(folder, `${last}.realm`);
}

export const pause = (milliseconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

after(() => fs.rmSync(folder, { recursive: true, force: true }));
