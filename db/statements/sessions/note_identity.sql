-- Records which database this is, unless an identity is recorded.

update tacet.settings s set database_identity = tacet.database_identity() where s.database_identity is null;
