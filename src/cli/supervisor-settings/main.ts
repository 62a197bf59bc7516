import { usesEmbeddingModel } from '../../shared/settings/chosen-adapters.js';
import { loadSettings } from '../../shared/settings/load.js';
import { needsModelsProcess } from '../../shared/local-models/named-models.js';
import { SettingsError } from '../../shared/settings/rule.js';
import type { SettingsAnswer } from './supervisor-settings.js';

/** Tells the process that started this one the settings that it needs, and ends. */
function answer(): SettingsAnswer {
  try {
    const settings = loadSettings(process.env, ['secret']);
    const { redis, dataDirectory, api, workers, devMode, jwtSecretKey } = settings;
    const models = needsModelsProcess(settings) ? { token: settings.models.token } : null;
    const { host, port } = api;
    const { drainSeconds } = workers;
    const usesModel = usesEmbeddingModel(settings);
    const hasOwnSecret = jwtSecretKey !== null;
    const own = { host, port, drainSeconds, devMode, hasOwnSecret, usesModel, models };
    return { settings: { redisUrl: redis.url, dataDirectory, ...own } };
  } catch (error) {
    if (error instanceof SettingsError) return { wrong: error.message };
    throw error;
  }
}

// A supervisor that was ended meanwhile needs no answer.
process.send?.(answer(), () => {
  if (process.connected) process.disconnect();
});
