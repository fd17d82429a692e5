// Made by Scripts/bindings_jvm.py from include/api.json; do not edit.

package org.crealm;

/** The error numbers of the library, for {@link RealmException#code()}. */
public final class ErrorCode {
    private ErrorCode() {}

    public static final int NONE = 0;

    public static final int RUNTIME = 1000;

    public static final int RANGE_ERROR = 1001;

    public static final int BROKEN_INVARIANT = 1002;

    public static final int OUT_OF_MEMORY = 1003;

    public static final int OUT_OF_DISK_SPACE = 1004;

    public static final int ADDRESS_SPACE_EXHAUSTED = 1005;

    public static final int MAXIMUM_FILE_SIZE_EXCEEDED = 1006;

    public static final int INCOMPATIBLE_SESSION = 1007;

    public static final int INCOMPATIBLE_LOCK_FILE = 1008;

    public static final int INVALID_QUERY = 1009;

    public static final int BAD_VERSION = 1010;

    public static final int UNSUPPORTED_FILE_FORMAT_VERSION = 1011;

    public static final int MULTIPLE_SYNC_AGENTS = 1012;

    public static final int OBJECT_ALREADY_EXISTS = 1013;

    public static final int NOT_CLONABLE = 1014;

    public static final int BAD_CHANGESET = 1015;

    public static final int SUBSCRIPTION_FAILED = 1016;

    public static final int FILE_OPERATION_FAILED = 1017;

    public static final int FILE_PERMISSION_DENIED = 1018;

    public static final int FILE_NOT_FOUND = 1019;

    public static final int FILE_ALREADY_EXISTS = 1020;

    public static final int INVALID_DATABASE = 1021;

    public static final int DECRYPTION_FAILED = 1022;

    public static final int INCOMPATIBLE_HISTORIES = 1023;

    public static final int FILE_FORMAT_UPGRADE_REQUIRED = 1024;

    public static final int SCHEMA_VERSION_MISMATCH = 1025;

    public static final int NO_SUBSCRIPTION_FOR_WRITE = 1026;

    public static final int OPERATION_ABORTED = 1027;

    public static final int AUTO_CLIENT_RESET_FAILED = 1028;

    public static final int BAD_SYNC_PARTITION_VALUE = 1029;

    public static final int CONNECTION_CLOSED = 1030;

    public static final int INVALID_SUBSCRIPTION_QUERY = 1031;

    public static final int SYNC_CLIENT_RESET_REQUIRED = 1032;

    public static final int SYNC_COMPENSATING_WRITE = 1033;

    public static final int SYNC_CONNECT_FAILED = 1034;

    public static final int SYNC_CONNECT_TIMEOUT = 1035;

    public static final int SYNC_INVALID_SCHEMA_CHANGE = 1036;

    public static final int SYNC_PERMISSION_DENIED = 1037;

    public static final int SYNC_PROTOCOL_INVARIANT_FAILED = 1038;

    public static final int SYNC_PROTOCOL_NEGOTIATION_FAILED = 1039;

    public static final int SYNC_SERVER_PERMISSIONS_CHANGED = 1040;

    public static final int SYNC_USER_MISMATCH = 1041;

    public static final int TLS_HANDSHAKE_FAILED = 1042;

    public static final int WRONG_SYNC_TYPE = 1043;

    public static final int SYNC_WRITE_NOT_ALLOWED = 1044;

    public static final int SYNC_LOCAL_CLOCK_BEFORE_EPOCH = 1045;

    public static final int SYNC_SCHEMA_MIGRATION_ERROR = 1046;

    public static final int SYSTEM_ERROR = 1999;

    public static final int LOGIC = 2000;

    public static final int NOT_SUPPORTED = 2001;

    public static final int BROKEN_PROMISE = 2002;

    public static final int CROSS_TABLE_LINK_TARGET = 2003;

    public static final int KEY_ALREADY_USED = 2004;

    public static final int WRONG_TRANSACTION_STATE = 2005;

    public static final int WRONG_THREAD = 2006;

    public static final int ILLEGAL_OPERATION = 2007;

    public static final int SERIALIZATION_ERROR = 2008;

    public static final int STALE_ACCESSOR = 2009;

    public static final int INVALIDATED_OBJECT = 2010;

    public static final int READ_ONLY_DB = 2011;

    public static final int DELETE_OPENED_REALM = 2012;

    public static final int MISMATCHED_CONFIG = 2013;

    public static final int CLOSED_REALM = 2014;

    public static final int INVALID_TABLE_REF = 2015;

    public static final int SCHEMA_VALIDATION_FAILED = 2016;

    public static final int SCHEMA_MISMATCH = 2017;

    public static final int INVALID_SCHEMA_VERSION = 2018;

    public static final int INVALID_SCHEMA_CHANGE = 2019;

    public static final int MIGRATION_FAILED = 2020;

    public static final int TOP_LEVEL_OBJECT = 2021;

    public static final int INVALID_ARGUMENT = 3000;

    public static final int PROPERTY_TYPE_MISMATCH = 3001;

    public static final int PROPERTY_NOT_NULLABLE = 3002;

    public static final int READ_ONLY_PROPERTY = 3003;

    public static final int MISSING_PROPERTY_VALUE = 3004;

    public static final int MISSING_PRIMARY_KEY = 3005;

    public static final int UNEXPECTED_PRIMARY_KEY = 3006;

    public static final int MODIFY_PRIMARY_KEY = 3007;

    public static final int INVALID_QUERY_STRING = 3008;

    public static final int INVALID_PROPERTY = 3009;

    public static final int INVALID_NAME = 3010;

    public static final int INVALID_DICTIONARY_KEY = 3011;

    public static final int INVALID_DICTIONARY_VALUE = 3012;

    public static final int INVALID_SORT_DESCRIPTOR = 3013;

    public static final int INVALID_ENCRYPTION_KEY = 3014;

    public static final int INVALID_QUERY_ARG = 3015;

    public static final int NO_SUCH_OBJECT = 3016;

    public static final int INDEX_OUT_OF_BOUNDS = 3017;

    public static final int LIMIT_EXCEEDED = 3018;

    public static final int OBJECT_TYPE_MISMATCH = 3019;

    public static final int NO_SUCH_TABLE = 3020;

    public static final int TABLE_NAME_IN_USE = 3021;

    public static final int ILLEGAL_COMBINATION = 3022;

    public static final int BAD_SERVER_URL = 3023;

    public static final int CUSTOM_ERROR = 4000;

    public static final int CLIENT_USER_NOT_FOUND = 4100;

    public static final int CLIENT_USER_NOT_LOGGED_IN = 4101;

    public static final int CLIENT_REDIRECT_ERROR = 4103;

    public static final int CLIENT_TOO_MANY_REDIRECTS = 4104;

    public static final int CLIENT_USER_ALREADY_NAMED = 4105;

    public static final int BAD_TOKEN = 4200;

    public static final int MALFORMED_JSON = 4201;

    public static final int MISSING_JSON_KEY = 4202;

    public static final int BAD_BSON_PARSE = 4203;

    public static final int MISSING_AUTH_REQ = 4300;

    public static final int INVALID_SESSION = 4301;

    public static final int USER_APP_DOMAIN_MISMATCH = 4302;

    public static final int DOMAIN_NOT_ALLOWED = 4303;

    public static final int READ_SIZE_LIMIT_EXCEEDED = 4304;

    public static final int INVALID_PARAMETER = 4305;

    public static final int MISSING_PARAMETER = 4306;

    public static final int TWILIO_ERROR = 4307;

    public static final int GCM_ERROR = 4308;

    public static final int HTTP_ERROR = 4309;

    public static final int AWS_ERROR = 4310;

    public static final int MONGODB_ERROR = 4311;

    public static final int ARGUMENTS_NOT_ALLOWED = 4312;

    public static final int FUNCTION_EXECUTION_ERROR = 4313;

    public static final int NO_MATCHING_RULE_FOUND = 4314;

    public static final int INTERNAL_SERVER_ERROR = 4315;

    public static final int AUTH_PROVIDER_NOT_FOUND = 4316;

    public static final int AUTH_PROVIDER_ALREADY_EXISTS = 4317;

    public static final int SERVICE_NOT_FOUND = 4318;

    public static final int SERVICE_TYPE_NOT_FOUND = 4319;

    public static final int SERVICE_ALREADY_EXISTS = 4320;

    public static final int SERVICE_COMMAND_NOT_FOUND = 4321;

    public static final int VALUE_NOT_FOUND = 4322;

    public static final int VALUE_ALREADY_EXISTS = 4323;

    public static final int VALUE_DUPLICATE_NAME = 4324;

    public static final int FUNCTION_NOT_FOUND = 4325;

    public static final int FUNCTION_ALREADY_EXISTS = 4326;

    public static final int FUNCTION_DUPLICATE_NAME = 4327;

    public static final int FUNCTION_SYNTAX_ERROR = 4328;

    public static final int FUNCTION_INVALID = 4329;

    public static final int INCOMING_WEBHOOK_NOT_FOUND = 4330;

    public static final int INCOMING_WEBHOOK_ALREADY_EXISTS = 4331;

    public static final int INCOMING_WEBHOOK_DUPLICATE_NAME = 4332;

    public static final int RULE_NOT_FOUND = 4333;

    public static final int API_KEY_NOT_FOUND = 4334;

    public static final int RULE_ALREADY_EXISTS = 4335;

    public static final int RULE_DUPLICATE_NAME = 4336;

    public static final int AUTH_PROVIDER_DUPLICATE_NAME = 4337;

    public static final int RESTRICTED_HOST = 4338;

    public static final int API_KEY_ALREADY_EXISTS = 4339;

    public static final int INCOMING_WEBHOOK_AUTH_FAILED = 4340;

    public static final int EXECUTION_TIME_LIMIT_EXCEEDED = 4341;

    public static final int NOT_CALLABLE = 4342;

    public static final int USER_ALREADY_CONFIRMED = 4343;

    public static final int USER_NOT_FOUND = 4344;

    public static final int USER_DISABLED = 4345;

    public static final int AUTH_ERROR = 4346;

    public static final int BAD_REQUEST = 4347;

    public static final int ACCOUNT_NAME_IN_USE = 4348;

    public static final int INVALID_PASSWORD = 4349;

    public static final int SCHEMA_VALIDATION_FAILED_WRITE = 4350;

    public static final int APP_UNKNOWN = 4351;

    public static final int MAINTENANCE_IN_PROGRESS = 4352;

    public static final int USERPASS_TOKEN_INVALID = 4353;

    public static final int INVALID_SERVER_RESPONSE = 4354;

    public static final int APP_SERVER_ERROR = 4355;

    public static final int COMMIT_OUTCOME_UNKNOWN = 9001;

    public static final int FILE_KEEPS_CHANGING = 9002;

    public static final int TIMED_OUT = 9003;

    public static final int INTERRUPTED = 9004;

    public static final int VERSION_GONE = 9005;

    public static final int RULE_BROKEN = 9006;

    public static final int SYNC = 9007;

    public static final int CALLBACK = 1000000;

    public static final int UNKNOWN = 2000000;

    /** The name of a number, or its digits. */
    public static String name(int code) {
        return switch (code) {
            case 0 -> "NONE";
            case 1000 -> "RUNTIME";
            case 1001 -> "RANGE_ERROR";
            case 1002 -> "BROKEN_INVARIANT";
            case 1003 -> "OUT_OF_MEMORY";
            case 1004 -> "OUT_OF_DISK_SPACE";
            case 1005 -> "ADDRESS_SPACE_EXHAUSTED";
            case 1006 -> "MAXIMUM_FILE_SIZE_EXCEEDED";
            case 1007 -> "INCOMPATIBLE_SESSION";
            case 1008 -> "INCOMPATIBLE_LOCK_FILE";
            case 1009 -> "INVALID_QUERY";
            case 1010 -> "BAD_VERSION";
            case 1011 -> "UNSUPPORTED_FILE_FORMAT_VERSION";
            case 1012 -> "MULTIPLE_SYNC_AGENTS";
            case 1013 -> "OBJECT_ALREADY_EXISTS";
            case 1014 -> "NOT_CLONABLE";
            case 1015 -> "BAD_CHANGESET";
            case 1016 -> "SUBSCRIPTION_FAILED";
            case 1017 -> "FILE_OPERATION_FAILED";
            case 1018 -> "FILE_PERMISSION_DENIED";
            case 1019 -> "FILE_NOT_FOUND";
            case 1020 -> "FILE_ALREADY_EXISTS";
            case 1021 -> "INVALID_DATABASE";
            case 1022 -> "DECRYPTION_FAILED";
            case 1023 -> "INCOMPATIBLE_HISTORIES";
            case 1024 -> "FILE_FORMAT_UPGRADE_REQUIRED";
            case 1025 -> "SCHEMA_VERSION_MISMATCH";
            case 1026 -> "NO_SUBSCRIPTION_FOR_WRITE";
            case 1027 -> "OPERATION_ABORTED";
            case 1028 -> "AUTO_CLIENT_RESET_FAILED";
            case 1029 -> "BAD_SYNC_PARTITION_VALUE";
            case 1030 -> "CONNECTION_CLOSED";
            case 1031 -> "INVALID_SUBSCRIPTION_QUERY";
            case 1032 -> "SYNC_CLIENT_RESET_REQUIRED";
            case 1033 -> "SYNC_COMPENSATING_WRITE";
            case 1034 -> "SYNC_CONNECT_FAILED";
            case 1035 -> "SYNC_CONNECT_TIMEOUT";
            case 1036 -> "SYNC_INVALID_SCHEMA_CHANGE";
            case 1037 -> "SYNC_PERMISSION_DENIED";
            case 1038 -> "SYNC_PROTOCOL_INVARIANT_FAILED";
            case 1039 -> "SYNC_PROTOCOL_NEGOTIATION_FAILED";
            case 1040 -> "SYNC_SERVER_PERMISSIONS_CHANGED";
            case 1041 -> "SYNC_USER_MISMATCH";
            case 1042 -> "TLS_HANDSHAKE_FAILED";
            case 1043 -> "WRONG_SYNC_TYPE";
            case 1044 -> "SYNC_WRITE_NOT_ALLOWED";
            case 1045 -> "SYNC_LOCAL_CLOCK_BEFORE_EPOCH";
            case 1046 -> "SYNC_SCHEMA_MIGRATION_ERROR";
            case 1999 -> "SYSTEM_ERROR";
            case 2000 -> "LOGIC";
            case 2001 -> "NOT_SUPPORTED";
            case 2002 -> "BROKEN_PROMISE";
            case 2003 -> "CROSS_TABLE_LINK_TARGET";
            case 2004 -> "KEY_ALREADY_USED";
            case 2005 -> "WRONG_TRANSACTION_STATE";
            case 2006 -> "WRONG_THREAD";
            case 2007 -> "ILLEGAL_OPERATION";
            case 2008 -> "SERIALIZATION_ERROR";
            case 2009 -> "STALE_ACCESSOR";
            case 2010 -> "INVALIDATED_OBJECT";
            case 2011 -> "READ_ONLY_DB";
            case 2012 -> "DELETE_OPENED_REALM";
            case 2013 -> "MISMATCHED_CONFIG";
            case 2014 -> "CLOSED_REALM";
            case 2015 -> "INVALID_TABLE_REF";
            case 2016 -> "SCHEMA_VALIDATION_FAILED";
            case 2017 -> "SCHEMA_MISMATCH";
            case 2018 -> "INVALID_SCHEMA_VERSION";
            case 2019 -> "INVALID_SCHEMA_CHANGE";
            case 2020 -> "MIGRATION_FAILED";
            case 2021 -> "TOP_LEVEL_OBJECT";
            case 3000 -> "INVALID_ARGUMENT";
            case 3001 -> "PROPERTY_TYPE_MISMATCH";
            case 3002 -> "PROPERTY_NOT_NULLABLE";
            case 3003 -> "READ_ONLY_PROPERTY";
            case 3004 -> "MISSING_PROPERTY_VALUE";
            case 3005 -> "MISSING_PRIMARY_KEY";
            case 3006 -> "UNEXPECTED_PRIMARY_KEY";
            case 3007 -> "MODIFY_PRIMARY_KEY";
            case 3008 -> "INVALID_QUERY_STRING";
            case 3009 -> "INVALID_PROPERTY";
            case 3010 -> "INVALID_NAME";
            case 3011 -> "INVALID_DICTIONARY_KEY";
            case 3012 -> "INVALID_DICTIONARY_VALUE";
            case 3013 -> "INVALID_SORT_DESCRIPTOR";
            case 3014 -> "INVALID_ENCRYPTION_KEY";
            case 3015 -> "INVALID_QUERY_ARG";
            case 3016 -> "NO_SUCH_OBJECT";
            case 3017 -> "INDEX_OUT_OF_BOUNDS";
            case 3018 -> "LIMIT_EXCEEDED";
            case 3019 -> "OBJECT_TYPE_MISMATCH";
            case 3020 -> "NO_SUCH_TABLE";
            case 3021 -> "TABLE_NAME_IN_USE";
            case 3022 -> "ILLEGAL_COMBINATION";
            case 3023 -> "BAD_SERVER_URL";
            case 4000 -> "CUSTOM_ERROR";
            case 4100 -> "CLIENT_USER_NOT_FOUND";
            case 4101 -> "CLIENT_USER_NOT_LOGGED_IN";
            case 4103 -> "CLIENT_REDIRECT_ERROR";
            case 4104 -> "CLIENT_TOO_MANY_REDIRECTS";
            case 4105 -> "CLIENT_USER_ALREADY_NAMED";
            case 4200 -> "BAD_TOKEN";
            case 4201 -> "MALFORMED_JSON";
            case 4202 -> "MISSING_JSON_KEY";
            case 4203 -> "BAD_BSON_PARSE";
            case 4300 -> "MISSING_AUTH_REQ";
            case 4301 -> "INVALID_SESSION";
            case 4302 -> "USER_APP_DOMAIN_MISMATCH";
            case 4303 -> "DOMAIN_NOT_ALLOWED";
            case 4304 -> "READ_SIZE_LIMIT_EXCEEDED";
            case 4305 -> "INVALID_PARAMETER";
            case 4306 -> "MISSING_PARAMETER";
            case 4307 -> "TWILIO_ERROR";
            case 4308 -> "GCM_ERROR";
            case 4309 -> "HTTP_ERROR";
            case 4310 -> "AWS_ERROR";
            case 4311 -> "MONGODB_ERROR";
            case 4312 -> "ARGUMENTS_NOT_ALLOWED";
            case 4313 -> "FUNCTION_EXECUTION_ERROR";
            case 4314 -> "NO_MATCHING_RULE_FOUND";
            case 4315 -> "INTERNAL_SERVER_ERROR";
            case 4316 -> "AUTH_PROVIDER_NOT_FOUND";
            case 4317 -> "AUTH_PROVIDER_ALREADY_EXISTS";
            case 4318 -> "SERVICE_NOT_FOUND";
            case 4319 -> "SERVICE_TYPE_NOT_FOUND";
            case 4320 -> "SERVICE_ALREADY_EXISTS";
            case 4321 -> "SERVICE_COMMAND_NOT_FOUND";
            case 4322 -> "VALUE_NOT_FOUND";
            case 4323 -> "VALUE_ALREADY_EXISTS";
            case 4324 -> "VALUE_DUPLICATE_NAME";
            case 4325 -> "FUNCTION_NOT_FOUND";
            case 4326 -> "FUNCTION_ALREADY_EXISTS";
            case 4327 -> "FUNCTION_DUPLICATE_NAME";
            case 4328 -> "FUNCTION_SYNTAX_ERROR";
            case 4329 -> "FUNCTION_INVALID";
            case 4330 -> "INCOMING_WEBHOOK_NOT_FOUND";
            case 4331 -> "INCOMING_WEBHOOK_ALREADY_EXISTS";
            case 4332 -> "INCOMING_WEBHOOK_DUPLICATE_NAME";
            case 4333 -> "RULE_NOT_FOUND";
            case 4334 -> "API_KEY_NOT_FOUND";
            case 4335 -> "RULE_ALREADY_EXISTS";
            case 4336 -> "RULE_DUPLICATE_NAME";
            case 4337 -> "AUTH_PROVIDER_DUPLICATE_NAME";
            case 4338 -> "RESTRICTED_HOST";
            case 4339 -> "API_KEY_ALREADY_EXISTS";
            case 4340 -> "INCOMING_WEBHOOK_AUTH_FAILED";
            case 4341 -> "EXECUTION_TIME_LIMIT_EXCEEDED";
            case 4342 -> "NOT_CALLABLE";
            case 4343 -> "USER_ALREADY_CONFIRMED";
            case 4344 -> "USER_NOT_FOUND";
            case 4345 -> "USER_DISABLED";
            case 4346 -> "AUTH_ERROR";
            case 4347 -> "BAD_REQUEST";
            case 4348 -> "ACCOUNT_NAME_IN_USE";
            case 4349 -> "INVALID_PASSWORD";
            case 4350 -> "SCHEMA_VALIDATION_FAILED_WRITE";
            case 4351 -> "APP_UNKNOWN";
            case 4352 -> "MAINTENANCE_IN_PROGRESS";
            case 4353 -> "USERPASS_TOKEN_INVALID";
            case 4354 -> "INVALID_SERVER_RESPONSE";
            case 4355 -> "APP_SERVER_ERROR";
            case 9001 -> "COMMIT_OUTCOME_UNKNOWN";
            case 9002 -> "FILE_KEEPS_CHANGING";
            case 9003 -> "TIMED_OUT";
            case 9004 -> "INTERRUPTED";
            case 9005 -> "VERSION_GONE";
            case 9006 -> "RULE_BROKEN";
            case 9007 -> "SYNC";
            case 1000000 -> "CALLBACK";
            case 2000000 -> "UNKNOWN";
            default -> Integer.toString(code);
        };
    }
}
