import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { AppVersionsRepository } from './app-versions.repository.js';
import { VersionNotFoundError } from './apps.errors.js';
import type { AppVersionKey } from './apps.types.js';

/** Tells versions that hold something from names that somebody made up. Not inside of a transaction. */
@Injectable()
export class KnownVersionsService {
  constructor(
    private readonly database: Database,
    private readonly versions: AppVersionsRepository,
  ) {}

  /** @throws VersionNotFoundError when nothing was ever stored for the version */
  async require(version: AppVersionKey): Promise<void> {
    const [stored] = await this.database.read((manager) => this.versions.find(manager, [version]));
    if (stored === undefined) {
      throw new VersionNotFoundError();
    }
  }
}
