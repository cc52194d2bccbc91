import { SetMetadata, type CustomDecorator } from '@nestjs/common';

/** Metadata key of public routes. */
export const IS_PUBLIC = 'svc:public';

/** Opens a controller or route to callers without a token. Its path must also be in PUBLIC_PATHS. */
export const Public = (): CustomDecorator => SetMetadata(IS_PUBLIC, true);
