import { expect, test } from '@jest/globals';
import { loadSettings } from '../../src/shared/settings/load.js';
import { readComposeFile } from './compose-file.js';

const SECRET = 'x'.repeat(32);

const read = (profiles: readonly string[]) =>
  readComposeFile('docker-compose.yml', { JWT_SECRET_KEY: SECRET }, profiles);

test('the process with local models is there only in its profile', async () => {
  const usual = Object.keys((await read([])).services);
  expect(usual).not.toContain('models');
  expect(usual).toContain('api');
  expect(Object.keys((await read(['models'])).services).sort()).toEqual([...usual, 'models'].sort());
});

test('it starts with a token alone, since it listens for the other containers', async () => {
  const { services } = await read(['models']);
  const environment = Object.fromEntries(
    Object.entries(services['models']?.environment ?? {}).map(([name, value]) => [name, String(value)]),
  );
  expect(() => loadSettings({ ...environment, JWT_SECRET_KEY: SECRET }, [])).toThrow('models.token');
  const token = 'y'.repeat(16);
  const settings = loadSettings({ ...environment, QUIRE_MODELS_TOKEN: token, JWT_SECRET_KEY: SECRET }, []);
  expect(settings.models).toMatchObject({ host: '0.0.0.0', port: 8010, token });
  expect(services['models']?.healthcheck.test.join(' ')).toContain('http://127.0.0.1:8010/health');
});

test('it keeps files and states on a volume of its own, and holds no secret of the API', async () => {
  const { services } = await read(['models']);
  expect(services['models']?.volumes).toEqual(['models:/data']);
  expect(services['models']?.environment).toMatchObject({ QUIRE_DATA_DIR: '/data', JWT_SECRET_KEY: '' });
  expect(services['models']?.image).not.toBe(services['api']?.image);
});
