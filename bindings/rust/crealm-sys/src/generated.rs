// Made by Scripts/bindings_rust.py from include/api.json; do not edit.
#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_int, c_uint, c_void};

pub type realm_class_key_t = u32;
pub type realm_property_key_t = i64;
pub type realm_object_key_t = i64;
pub type realm_version_t = u64;
pub type realm_error_categories = c_uint;
pub const RLM_C_API_VERSION_MAJOR: c_int = 14;
pub const RLM_C_API_VERSION_MINOR: c_int = 14;
pub const RLM_C_API_VERSION_PATCH: c_int = 0;
pub const RLM_C_API_VERSION: &str = "14.14.0";
pub const RLM_INVALID_CLASS_KEY: realm_class_key_t = 2147483647;
pub const RLM_INVALID_PROPERTY_KEY: realm_property_key_t = -1;
pub const RLM_INVALID_OBJECT_KEY: realm_object_key_t = -1;
pub const CREALM_ABI_VERSION: c_int = 1;
pub const CREALM_MIN_STACK_SIZE: c_int = 98304;
pub const CREALM_ERR_TIMED_OUT: c_int = 9003;
pub const CREALM_ERR_INTERRUPTED: c_int = 9004;
pub const CREALM_ERR_COMMIT_OUTCOME_UNKNOWN: c_int = 9001;
pub const CREALM_ERR_RULE_BROKEN: c_int = 9006;
pub const CREALM_ERR_FILE_KEEPS_CHANGING: c_int = 9002;
pub const ARROW_FLAG_DICTIONARY_ORDERED: c_int = 1;
pub const ARROW_FLAG_NULLABLE: c_int = 2;
pub const ARROW_FLAG_MAP_KEYS_SORTED: c_int = 4;
pub const CREALM_ERR_VERSION_GONE: c_int = 9005;
pub const CREALM_ERR_SYNC: c_int = 9007;

/// an open realm; several may share one file
#[repr(C)]
pub struct realm_t {
    opaque: [u8; 0],
}

/// classes and their properties
#[repr(C)]
pub struct realm_schema_t {
    opaque: [u8; 0],
}

/// how to open a realm
#[repr(C)]
pub struct realm_config_t {
    opaque: [u8; 0],
}

/// the thread a realm belongs to
#[repr(C)]
pub struct realm_scheduler_t {
    opaque: [u8; 0],
}

/// work waiting for a scheduler's thread
#[repr(C)]
pub struct realm_work_queue_t {
    opaque: [u8; 0],
}

/// one object
#[repr(C)]
pub struct realm_object_t {
    opaque: [u8; 0],
}

/// an ordered collection
#[repr(C)]
pub struct realm_list_t {
    opaque: [u8; 0],
}

/// a collection of distinct values
#[repr(C)]
pub struct realm_set_t {
    opaque: [u8; 0],
}

/// a map from strings to values
#[repr(C)]
pub struct realm_dictionary_t {
    opaque: [u8; 0],
}

/// a parsed condition with its ordering
#[repr(C)]
pub struct realm_query_t {
    opaque: [u8; 0],
}

/// rows found, kept up to date
#[repr(C)]
pub struct realm_results_t {
    opaque: [u8; 0],
}

/// an error that may cross threads
#[repr(C)]
pub struct realm_async_error_t {
    opaque: [u8; 0],
}

/// a handle in transit
#[repr(C)]
pub struct realm_thread_safe_reference_t {
    opaque: [u8; 0],
}

/// properties a callback cares about
#[repr(C)]
pub struct realm_key_path_array_t {
    opaque: [u8; 0],
}

/// Tokens: a callback stays registered until its token is released.
#[repr(C)]
pub struct realm_notification_token_t {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct realm_callback_token_t {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct realm_refresh_callback_token_t {
    opaque: [u8; 0],
}

/// What changed, as change callbacks receive it.
#[repr(C)]
pub struct realm_object_changes_t {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct realm_collection_changes_t {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct realm_dictionary_changes_t {
    opaque: [u8; 0],
}

/// What a realm_value_t holds.
pub type realm_value_type_e = c_uint;
pub const RLM_TYPE_NULL: realm_value_type_e = 0;
pub const RLM_TYPE_INT: realm_value_type_e = 1;
pub const RLM_TYPE_BOOL: realm_value_type_e = 2;
pub const RLM_TYPE_STRING: realm_value_type_e = 3;
pub const RLM_TYPE_BINARY: realm_value_type_e = 4;
pub const RLM_TYPE_TIMESTAMP: realm_value_type_e = 5;
pub const RLM_TYPE_FLOAT: realm_value_type_e = 6;
pub const RLM_TYPE_DOUBLE: realm_value_type_e = 7;
pub const RLM_TYPE_DECIMAL128: realm_value_type_e = 8;
pub const RLM_TYPE_OBJECT_ID: realm_value_type_e = 9;
pub const RLM_TYPE_LINK: realm_value_type_e = 10;
pub const RLM_TYPE_UUID: realm_value_type_e = 11;
pub const RLM_TYPE_LIST: realm_value_type_e = 12;
pub const RLM_TYPE_DICTIONARY: realm_value_type_e = 13;

/// The base type of a property.
pub type realm_property_type_e = c_uint;
pub const RLM_PROPERTY_TYPE_INT: realm_property_type_e = 0;
pub const RLM_PROPERTY_TYPE_BOOL: realm_property_type_e = 1;
pub const RLM_PROPERTY_TYPE_STRING: realm_property_type_e = 2;
pub const RLM_PROPERTY_TYPE_BINARY: realm_property_type_e = 4;
pub const RLM_PROPERTY_TYPE_MIXED: realm_property_type_e = 6;
pub const RLM_PROPERTY_TYPE_TIMESTAMP: realm_property_type_e = 8;
pub const RLM_PROPERTY_TYPE_FLOAT: realm_property_type_e = 9;
pub const RLM_PROPERTY_TYPE_DOUBLE: realm_property_type_e = 10;
pub const RLM_PROPERTY_TYPE_DECIMAL128: realm_property_type_e = 11;
pub const RLM_PROPERTY_TYPE_OBJECT: realm_property_type_e = 12;
pub const RLM_PROPERTY_TYPE_LINKING_OBJECTS: realm_property_type_e = 14;
pub const RLM_PROPERTY_TYPE_OBJECT_ID: realm_property_type_e = 15;
pub const RLM_PROPERTY_TYPE_UUID: realm_property_type_e = 17;

/// Whether a property holds one value or many.
pub type realm_collection_type_e = c_uint;
pub const RLM_COLLECTION_TYPE_NONE: realm_collection_type_e = 0;
pub const RLM_COLLECTION_TYPE_LIST: realm_collection_type_e = 1;
pub const RLM_COLLECTION_TYPE_SET: realm_collection_type_e = 2;
pub const RLM_COLLECTION_TYPE_DICTIONARY: realm_collection_type_e = 4;

/// Bits of realm_property_info_t.flags.
pub type realm_property_flags_e = c_uint;
pub const RLM_PROPERTY_NORMAL: realm_property_flags_e = 0;
pub const RLM_PROPERTY_NULLABLE: realm_property_flags_e = 1;
pub const RLM_PROPERTY_PRIMARY_KEY: realm_property_flags_e = 2;
pub const RLM_PROPERTY_INDEXED: realm_property_flags_e = 4;
pub const RLM_PROPERTY_FULLTEXT_INDEXED: realm_property_flags_e = 8;

/// Values of realm_class_info_t.flags, within RLM_CLASS_MASK.
pub type realm_class_flags_e = c_uint;
pub const RLM_CLASS_NORMAL: realm_class_flags_e = 0;
pub const RLM_CLASS_EMBEDDED: realm_class_flags_e = 1;
pub const RLM_CLASS_ASYMMETRIC: realm_class_flags_e = 2;
pub const RLM_CLASS_MASK: realm_class_flags_e = 3;

/// Attribute bits of a stored column. No function takes them; clients refer to the names.
pub type realm_column_attr_e = c_uint;
pub const RLM_COLUMN_ATTR_NONE: realm_column_attr_e = 0;
pub const RLM_COLUMN_ATTR_INDEXED: realm_column_attr_e = 1;
pub const RLM_COLUMN_ATTR_UNIQUE: realm_column_attr_e = 2;
pub const RLM_COLUMN_ATTR_RESERVED: realm_column_attr_e = 4;
pub const RLM_COLUMN_ATTR_STRONG_LINKS: realm_column_attr_e = 8;
pub const RLM_COLUMN_ATTR_NULLABLE: realm_column_attr_e = 16;
pub const RLM_COLUMN_ATTR_LIST: realm_column_attr_e = 32;
pub const RLM_COLUMN_ATTR_DICTIONARY: realm_column_attr_e = 64;
pub const RLM_COLUMN_ATTR_COLLECTION: realm_column_attr_e = 96;

/// What may happen to file and data when the schema of a config differs from the file's.
pub type realm_schema_mode_e = c_uint;
pub const RLM_SCHEMA_MODE_AUTOMATIC: realm_schema_mode_e = 0;
pub const RLM_SCHEMA_MODE_IMMUTABLE: realm_schema_mode_e = 1;
pub const RLM_SCHEMA_MODE_READ_ONLY: realm_schema_mode_e = 2;
pub const RLM_SCHEMA_MODE_SOFT_RESET_FILE: realm_schema_mode_e = 3;
pub const RLM_SCHEMA_MODE_HARD_RESET_FILE: realm_schema_mode_e = 4;
pub const RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED: realm_schema_mode_e = 5;
pub const RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT: realm_schema_mode_e = 6;
pub const RLM_SCHEMA_MODE_MANUAL: realm_schema_mode_e = 7;

/// Whether an open realm shows classes and properties of the file that its config does not name.
pub type realm_schema_subset_mode_e = c_uint;
pub const RLM_SCHEMA_SUBSET_MODE_STRICT: realm_schema_subset_mode_e = 0;
pub const RLM_SCHEMA_SUBSET_MODE_ALL_CLASSES: realm_schema_subset_mode_e = 1;
pub const RLM_SCHEMA_SUBSET_MODE_ALL_PROPERTIES: realm_schema_subset_mode_e = 2;
pub const RLM_SCHEMA_SUBSET_MODE_COMPLETE: realm_schema_subset_mode_e = 3;

/// Bits for realm_schema_validate().
pub type realm_schema_validation_mode_e = c_uint;
pub const RLM_SCHEMA_VALIDATION_BASIC: realm_schema_validation_mode_e = 0;
pub const RLM_SCHEMA_VALIDATION_SYNC_PBS: realm_schema_validation_mode_e = 1;
pub const RLM_SCHEMA_VALIDATION_REJECT_EMBEDDED_ORPHANS: realm_schema_validation_mode_e = 2;
pub const RLM_SCHEMA_VALIDATION_SYNC_FLX: realm_schema_validation_mode_e = 4;

/// A message is passed on when its level is at least the level set for its category.
pub type realm_log_level_e = c_uint;
pub const RLM_LOG_LEVEL_ALL: realm_log_level_e = 0;
pub const RLM_LOG_LEVEL_TRACE: realm_log_level_e = 1;
pub const RLM_LOG_LEVEL_DEBUG: realm_log_level_e = 2;
pub const RLM_LOG_LEVEL_DETAIL: realm_log_level_e = 3;
pub const RLM_LOG_LEVEL_INFO: realm_log_level_e = 4;
pub const RLM_LOG_LEVEL_WARNING: realm_log_level_e = 5;
pub const RLM_LOG_LEVEL_ERROR: realm_log_level_e = 6;
pub const RLM_LOG_LEVEL_FATAL: realm_log_level_e = 7;
pub const RLM_LOG_LEVEL_OFF: realm_log_level_e = 8;

/// Bits of realm_error_t.categories.
pub type realm_error_category_e = c_uint;
pub const RLM_ERR_CAT_LOGIC: realm_error_category_e = 2;
pub const RLM_ERR_CAT_RUNTIME: realm_error_category_e = 4;
pub const RLM_ERR_CAT_INVALID_ARG: realm_error_category_e = 8;
pub const RLM_ERR_CAT_FILE_ACCESS: realm_error_category_e = 16;
pub const RLM_ERR_CAT_SYSTEM_ERROR: realm_error_category_e = 32;
pub const RLM_ERR_CAT_APP_ERROR: realm_error_category_e = 64;
pub const RLM_ERR_CAT_CLIENT_ERROR: realm_error_category_e = 128;
pub const RLM_ERR_CAT_JSON_ERROR: realm_error_category_e = 256;
pub const RLM_ERR_CAT_SERVICE_ERROR: realm_error_category_e = 512;
pub const RLM_ERR_CAT_HTTP_ERROR: realm_error_category_e = 1024;
pub const RLM_ERR_CAT_CUSTOM_ERROR: realm_error_category_e = 2048;
pub const RLM_ERR_CAT_WEBSOCKET_ERROR: realm_error_category_e = 4096;
pub const RLM_ERR_CAT_SYNC_ERROR: realm_error_category_e = 8192;

/// All error numbers. Those without a remark here either explain themselves or belong to parts of
/// the API (sync, accounts) that this library leaves out: their names are kept for programs that
/// refer to them, but no function reports them.
pub type realm_errno_e = c_uint;
pub const RLM_ERR_NONE: realm_errno_e = 0;
pub const RLM_ERR_RUNTIME: realm_errno_e = 1000;
pub const RLM_ERR_RANGE_ERROR: realm_errno_e = 1001;
pub const RLM_ERR_BROKEN_INVARIANT: realm_errno_e = 1002;
pub const RLM_ERR_OUT_OF_MEMORY: realm_errno_e = 1003;
pub const RLM_ERR_OUT_OF_DISK_SPACE: realm_errno_e = 1004;
pub const RLM_ERR_ADDRESS_SPACE_EXHAUSTED: realm_errno_e = 1005;
pub const RLM_ERR_MAXIMUM_FILE_SIZE_EXCEEDED: realm_errno_e = 1006;
pub const RLM_ERR_INCOMPATIBLE_SESSION: realm_errno_e = 1007;
pub const RLM_ERR_INCOMPATIBLE_LOCK_FILE: realm_errno_e = 1008;
pub const RLM_ERR_INVALID_QUERY: realm_errno_e = 1009;
pub const RLM_ERR_BAD_VERSION: realm_errno_e = 1010;
pub const RLM_ERR_UNSUPPORTED_FILE_FORMAT_VERSION: realm_errno_e = 1011;
pub const RLM_ERR_MULTIPLE_SYNC_AGENTS: realm_errno_e = 1012;
pub const RLM_ERR_OBJECT_ALREADY_EXISTS: realm_errno_e = 1013;
pub const RLM_ERR_NOT_CLONABLE: realm_errno_e = 1014;
pub const RLM_ERR_BAD_CHANGESET: realm_errno_e = 1015;
pub const RLM_ERR_SUBSCRIPTION_FAILED: realm_errno_e = 1016;
pub const RLM_ERR_FILE_OPERATION_FAILED: realm_errno_e = 1017;
pub const RLM_ERR_FILE_PERMISSION_DENIED: realm_errno_e = 1018;
pub const RLM_ERR_FILE_NOT_FOUND: realm_errno_e = 1019;
pub const RLM_ERR_FILE_ALREADY_EXISTS: realm_errno_e = 1020;
pub const RLM_ERR_INVALID_DATABASE: realm_errno_e = 1021;
pub const RLM_ERR_DECRYPTION_FAILED: realm_errno_e = 1022;
pub const RLM_ERR_INCOMPATIBLE_HISTORIES: realm_errno_e = 1023;
pub const RLM_ERR_FILE_FORMAT_UPGRADE_REQUIRED: realm_errno_e = 1024;
pub const RLM_ERR_SCHEMA_VERSION_MISMATCH: realm_errno_e = 1025;
pub const RLM_ERR_NO_SUBSCRIPTION_FOR_WRITE: realm_errno_e = 1026;
pub const RLM_ERR_OPERATION_ABORTED: realm_errno_e = 1027;
pub const RLM_ERR_AUTO_CLIENT_RESET_FAILED: realm_errno_e = 1028;
pub const RLM_ERR_BAD_SYNC_PARTITION_VALUE: realm_errno_e = 1029;
pub const RLM_ERR_CONNECTION_CLOSED: realm_errno_e = 1030;
pub const RLM_ERR_INVALID_SUBSCRIPTION_QUERY: realm_errno_e = 1031;
pub const RLM_ERR_SYNC_CLIENT_RESET_REQUIRED: realm_errno_e = 1032;
pub const RLM_ERR_SYNC_COMPENSATING_WRITE: realm_errno_e = 1033;
pub const RLM_ERR_SYNC_CONNECT_FAILED: realm_errno_e = 1034;
pub const RLM_ERR_SYNC_CONNECT_TIMEOUT: realm_errno_e = 1035;
pub const RLM_ERR_SYNC_INVALID_SCHEMA_CHANGE: realm_errno_e = 1036;
pub const RLM_ERR_SYNC_PERMISSION_DENIED: realm_errno_e = 1037;
pub const RLM_ERR_SYNC_PROTOCOL_INVARIANT_FAILED: realm_errno_e = 1038;
pub const RLM_ERR_SYNC_PROTOCOL_NEGOTIATION_FAILED: realm_errno_e = 1039;
pub const RLM_ERR_SYNC_SERVER_PERMISSIONS_CHANGED: realm_errno_e = 1040;
pub const RLM_ERR_SYNC_USER_MISMATCH: realm_errno_e = 1041;
pub const RLM_ERR_TLS_HANDSHAKE_FAILED: realm_errno_e = 1042;
pub const RLM_ERR_WRONG_SYNC_TYPE: realm_errno_e = 1043;
pub const RLM_ERR_SYNC_WRITE_NOT_ALLOWED: realm_errno_e = 1044;
pub const RLM_ERR_SYNC_LOCAL_CLOCK_BEFORE_EPOCH: realm_errno_e = 1045;
pub const RLM_ERR_SYNC_SCHEMA_MIGRATION_ERROR: realm_errno_e = 1046;
pub const RLM_ERR_SYSTEM_ERROR: realm_errno_e = 1999;
pub const RLM_ERR_LOGIC: realm_errno_e = 2000;
pub const RLM_ERR_NOT_SUPPORTED: realm_errno_e = 2001;
pub const RLM_ERR_BROKEN_PROMISE: realm_errno_e = 2002;
pub const RLM_ERR_CROSS_TABLE_LINK_TARGET: realm_errno_e = 2003;
pub const RLM_ERR_KEY_ALREADY_USED: realm_errno_e = 2004;
pub const RLM_ERR_WRONG_TRANSACTION_STATE: realm_errno_e = 2005;
pub const RLM_ERR_WRONG_THREAD: realm_errno_e = 2006;
pub const RLM_ERR_ILLEGAL_OPERATION: realm_errno_e = 2007;
pub const RLM_ERR_SERIALIZATION_ERROR: realm_errno_e = 2008;
pub const RLM_ERR_STALE_ACCESSOR: realm_errno_e = 2009;
pub const RLM_ERR_INVALIDATED_OBJECT: realm_errno_e = 2010;
pub const RLM_ERR_READ_ONLY_DB: realm_errno_e = 2011;
pub const RLM_ERR_DELETE_OPENED_REALM: realm_errno_e = 2012;
pub const RLM_ERR_MISMATCHED_CONFIG: realm_errno_e = 2013;
pub const RLM_ERR_CLOSED_REALM: realm_errno_e = 2014;
pub const RLM_ERR_INVALID_TABLE_REF: realm_errno_e = 2015;
pub const RLM_ERR_SCHEMA_VALIDATION_FAILED: realm_errno_e = 2016;
pub const RLM_ERR_SCHEMA_MISMATCH: realm_errno_e = 2017;
pub const RLM_ERR_INVALID_SCHEMA_VERSION: realm_errno_e = 2018;
pub const RLM_ERR_INVALID_SCHEMA_CHANGE: realm_errno_e = 2019;
pub const RLM_ERR_MIGRATION_FAILED: realm_errno_e = 2020;
pub const RLM_ERR_TOP_LEVEL_OBJECT: realm_errno_e = 2021;
pub const RLM_ERR_INVALID_ARGUMENT: realm_errno_e = 3000;
pub const RLM_ERR_PROPERTY_TYPE_MISMATCH: realm_errno_e = 3001;
pub const RLM_ERR_PROPERTY_NOT_NULLABLE: realm_errno_e = 3002;
pub const RLM_ERR_READ_ONLY_PROPERTY: realm_errno_e = 3003;
pub const RLM_ERR_MISSING_PROPERTY_VALUE: realm_errno_e = 3004;
pub const RLM_ERR_MISSING_PRIMARY_KEY: realm_errno_e = 3005;
pub const RLM_ERR_UNEXPECTED_PRIMARY_KEY: realm_errno_e = 3006;
pub const RLM_ERR_MODIFY_PRIMARY_KEY: realm_errno_e = 3007;
pub const RLM_ERR_INVALID_QUERY_STRING: realm_errno_e = 3008;
pub const RLM_ERR_INVALID_PROPERTY: realm_errno_e = 3009;
pub const RLM_ERR_INVALID_NAME: realm_errno_e = 3010;
pub const RLM_ERR_INVALID_DICTIONARY_KEY: realm_errno_e = 3011;
pub const RLM_ERR_INVALID_DICTIONARY_VALUE: realm_errno_e = 3012;
pub const RLM_ERR_INVALID_SORT_DESCRIPTOR: realm_errno_e = 3013;
pub const RLM_ERR_INVALID_ENCRYPTION_KEY: realm_errno_e = 3014;
pub const RLM_ERR_INVALID_QUERY_ARG: realm_errno_e = 3015;
pub const RLM_ERR_NO_SUCH_OBJECT: realm_errno_e = 3016;
pub const RLM_ERR_INDEX_OUT_OF_BOUNDS: realm_errno_e = 3017;
pub const RLM_ERR_LIMIT_EXCEEDED: realm_errno_e = 3018;
pub const RLM_ERR_OBJECT_TYPE_MISMATCH: realm_errno_e = 3019;
pub const RLM_ERR_NO_SUCH_TABLE: realm_errno_e = 3020;
pub const RLM_ERR_TABLE_NAME_IN_USE: realm_errno_e = 3021;
pub const RLM_ERR_ILLEGAL_COMBINATION: realm_errno_e = 3022;
pub const RLM_ERR_BAD_SERVER_URL: realm_errno_e = 3023;
pub const RLM_ERR_CUSTOM_ERROR: realm_errno_e = 4000;
pub const RLM_ERR_CLIENT_USER_NOT_FOUND: realm_errno_e = 4100;
pub const RLM_ERR_CLIENT_USER_NOT_LOGGED_IN: realm_errno_e = 4101;
pub const RLM_ERR_CLIENT_REDIRECT_ERROR: realm_errno_e = 4103;
pub const RLM_ERR_CLIENT_TOO_MANY_REDIRECTS: realm_errno_e = 4104;
pub const RLM_ERR_CLIENT_USER_ALREADY_NAMED: realm_errno_e = 4105;
pub const RLM_ERR_BAD_TOKEN: realm_errno_e = 4200;
pub const RLM_ERR_MALFORMED_JSON: realm_errno_e = 4201;
pub const RLM_ERR_MISSING_JSON_KEY: realm_errno_e = 4202;
pub const RLM_ERR_BAD_BSON_PARSE: realm_errno_e = 4203;
pub const RLM_ERR_MISSING_AUTH_REQ: realm_errno_e = 4300;
pub const RLM_ERR_INVALID_SESSION: realm_errno_e = 4301;
pub const RLM_ERR_USER_APP_DOMAIN_MISMATCH: realm_errno_e = 4302;
pub const RLM_ERR_DOMAIN_NOT_ALLOWED: realm_errno_e = 4303;
pub const RLM_ERR_READ_SIZE_LIMIT_EXCEEDED: realm_errno_e = 4304;
pub const RLM_ERR_INVALID_PARAMETER: realm_errno_e = 4305;
pub const RLM_ERR_MISSING_PARAMETER: realm_errno_e = 4306;
pub const RLM_ERR_TWILIO_ERROR: realm_errno_e = 4307;
pub const RLM_ERR_GCM_ERROR: realm_errno_e = 4308;
pub const RLM_ERR_HTTP_ERROR: realm_errno_e = 4309;
pub const RLM_ERR_AWS_ERROR: realm_errno_e = 4310;
pub const RLM_ERR_MONGODB_ERROR: realm_errno_e = 4311;
pub const RLM_ERR_ARGUMENTS_NOT_ALLOWED: realm_errno_e = 4312;
pub const RLM_ERR_FUNCTION_EXECUTION_ERROR: realm_errno_e = 4313;
pub const RLM_ERR_NO_MATCHING_RULE_FOUND: realm_errno_e = 4314;
pub const RLM_ERR_INTERNAL_SERVER_ERROR: realm_errno_e = 4315;
pub const RLM_ERR_AUTH_PROVIDER_NOT_FOUND: realm_errno_e = 4316;
pub const RLM_ERR_AUTH_PROVIDER_ALREADY_EXISTS: realm_errno_e = 4317;
pub const RLM_ERR_SERVICE_NOT_FOUND: realm_errno_e = 4318;
pub const RLM_ERR_SERVICE_TYPE_NOT_FOUND: realm_errno_e = 4319;
pub const RLM_ERR_SERVICE_ALREADY_EXISTS: realm_errno_e = 4320;
pub const RLM_ERR_SERVICE_COMMAND_NOT_FOUND: realm_errno_e = 4321;
pub const RLM_ERR_VALUE_NOT_FOUND: realm_errno_e = 4322;
pub const RLM_ERR_VALUE_ALREADY_EXISTS: realm_errno_e = 4323;
pub const RLM_ERR_VALUE_DUPLICATE_NAME: realm_errno_e = 4324;
pub const RLM_ERR_FUNCTION_NOT_FOUND: realm_errno_e = 4325;
pub const RLM_ERR_FUNCTION_ALREADY_EXISTS: realm_errno_e = 4326;
pub const RLM_ERR_FUNCTION_DUPLICATE_NAME: realm_errno_e = 4327;
pub const RLM_ERR_FUNCTION_SYNTAX_ERROR: realm_errno_e = 4328;
pub const RLM_ERR_FUNCTION_INVALID: realm_errno_e = 4329;
pub const RLM_ERR_INCOMING_WEBHOOK_NOT_FOUND: realm_errno_e = 4330;
pub const RLM_ERR_INCOMING_WEBHOOK_ALREADY_EXISTS: realm_errno_e = 4331;
pub const RLM_ERR_INCOMING_WEBHOOK_DUPLICATE_NAME: realm_errno_e = 4332;
pub const RLM_ERR_RULE_NOT_FOUND: realm_errno_e = 4333;
pub const RLM_ERR_API_KEY_NOT_FOUND: realm_errno_e = 4334;
pub const RLM_ERR_RULE_ALREADY_EXISTS: realm_errno_e = 4335;
pub const RLM_ERR_RULE_DUPLICATE_NAME: realm_errno_e = 4336;
pub const RLM_ERR_AUTH_PROVIDER_DUPLICATE_NAME: realm_errno_e = 4337;
pub const RLM_ERR_RESTRICTED_HOST: realm_errno_e = 4338;
pub const RLM_ERR_API_KEY_ALREADY_EXISTS: realm_errno_e = 4339;
pub const RLM_ERR_INCOMING_WEBHOOK_AUTH_FAILED: realm_errno_e = 4340;
pub const RLM_ERR_EXECUTION_TIME_LIMIT_EXCEEDED: realm_errno_e = 4341;
pub const RLM_ERR_NOT_CALLABLE: realm_errno_e = 4342;
pub const RLM_ERR_USER_ALREADY_CONFIRMED: realm_errno_e = 4343;
pub const RLM_ERR_USER_NOT_FOUND: realm_errno_e = 4344;
pub const RLM_ERR_USER_DISABLED: realm_errno_e = 4345;
pub const RLM_ERR_AUTH_ERROR: realm_errno_e = 4346;
pub const RLM_ERR_BAD_REQUEST: realm_errno_e = 4347;
pub const RLM_ERR_ACCOUNT_NAME_IN_USE: realm_errno_e = 4348;
pub const RLM_ERR_INVALID_PASSWORD: realm_errno_e = 4349;
pub const RLM_ERR_SCHEMA_VALIDATION_FAILED_WRITE: realm_errno_e = 4350;
pub const RLM_ERR_APP_UNKNOWN: realm_errno_e = 4351;
pub const RLM_ERR_MAINTENANCE_IN_PROGRESS: realm_errno_e = 4352;
pub const RLM_ERR_USERPASS_TOKEN_INVALID: realm_errno_e = 4353;
pub const RLM_ERR_INVALID_SERVER_RESPONSE: realm_errno_e = 4354;
pub const RLM_ERR_APP_SERVER_ERROR: realm_errno_e = 4355;
pub const RLM_ERR_CALLBACK: realm_errno_e = 1000000;
pub const RLM_ERR_UNKNOWN: realm_errno_e = 2000000;

/// The next four enums number errors of the sync protocol. Names only.
pub type realm_sync_errno_connection_e = c_uint;
pub const RLM_SYNC_ERR_CONNECTION_CONNECTION_CLOSED: realm_sync_errno_connection_e = 100;
pub const RLM_SYNC_ERR_CONNECTION_OTHER_ERROR: realm_sync_errno_connection_e = 101;
pub const RLM_SYNC_ERR_CONNECTION_UNKNOWN_MESSAGE: realm_sync_errno_connection_e = 102;
pub const RLM_SYNC_ERR_CONNECTION_BAD_SYNTAX: realm_sync_errno_connection_e = 103;
pub const RLM_SYNC_ERR_CONNECTION_LIMITS_EXCEEDED: realm_sync_errno_connection_e = 104;
pub const RLM_SYNC_ERR_CONNECTION_WRONG_PROTOCOL_VERSION: realm_sync_errno_connection_e = 105;
pub const RLM_SYNC_ERR_CONNECTION_BAD_SESSION_IDENT: realm_sync_errno_connection_e = 106;
pub const RLM_SYNC_ERR_CONNECTION_REUSE_OF_SESSION_IDENT: realm_sync_errno_connection_e = 107;
pub const RLM_SYNC_ERR_CONNECTION_BOUND_IN_OTHER_SESSION: realm_sync_errno_connection_e = 108;
pub const RLM_SYNC_ERR_CONNECTION_BAD_MESSAGE_ORDER: realm_sync_errno_connection_e = 109;
pub const RLM_SYNC_ERR_CONNECTION_BAD_DECOMPRESSION: realm_sync_errno_connection_e = 110;
pub const RLM_SYNC_ERR_CONNECTION_BAD_CHANGESET_HEADER_SYNTAX: realm_sync_errno_connection_e = 111;
pub const RLM_SYNC_ERR_CONNECTION_BAD_CHANGESET_SIZE: realm_sync_errno_connection_e = 112;
pub const RLM_SYNC_ERR_CONNECTION_SWITCH_TO_FLX_SYNC: realm_sync_errno_connection_e = 113;
pub const RLM_SYNC_ERR_CONNECTION_SWITCH_TO_PBS: realm_sync_errno_connection_e = 114;

pub type realm_sync_errno_session_e = c_uint;
pub const RLM_SYNC_ERR_SESSION_SESSION_CLOSED: realm_sync_errno_session_e = 200;
pub const RLM_SYNC_ERR_SESSION_OTHER_SESSION_ERROR: realm_sync_errno_session_e = 201;
pub const RLM_SYNC_ERR_SESSION_TOKEN_EXPIRED: realm_sync_errno_session_e = 202;
pub const RLM_SYNC_ERR_SESSION_BAD_AUTHENTICATION: realm_sync_errno_session_e = 203;
pub const RLM_SYNC_ERR_SESSION_ILLEGAL_REALM_PATH: realm_sync_errno_session_e = 204;
pub const RLM_SYNC_ERR_SESSION_NO_SUCH_REALM: realm_sync_errno_session_e = 205;
pub const RLM_SYNC_ERR_SESSION_PERMISSION_DENIED: realm_sync_errno_session_e = 206;
pub const RLM_SYNC_ERR_SESSION_BAD_SERVER_FILE_IDENT: realm_sync_errno_session_e = 207;
pub const RLM_SYNC_ERR_SESSION_BAD_CLIENT_FILE_IDENT: realm_sync_errno_session_e = 208;
pub const RLM_SYNC_ERR_SESSION_BAD_SERVER_VERSION: realm_sync_errno_session_e = 209;
pub const RLM_SYNC_ERR_SESSION_BAD_CLIENT_VERSION: realm_sync_errno_session_e = 210;
pub const RLM_SYNC_ERR_SESSION_DIVERGING_HISTORIES: realm_sync_errno_session_e = 211;
pub const RLM_SYNC_ERR_SESSION_BAD_CHANGESET: realm_sync_errno_session_e = 212;
pub const RLM_SYNC_ERR_SESSION_PARTIAL_SYNC_DISABLED: realm_sync_errno_session_e = 214;
pub const RLM_SYNC_ERR_SESSION_UNSUPPORTED_SESSION_FEATURE: realm_sync_errno_session_e = 215;
pub const RLM_SYNC_ERR_SESSION_BAD_ORIGIN_FILE_IDENT: realm_sync_errno_session_e = 216;
pub const RLM_SYNC_ERR_SESSION_BAD_CLIENT_FILE: realm_sync_errno_session_e = 217;
pub const RLM_SYNC_ERR_SESSION_SERVER_FILE_DELETED: realm_sync_errno_session_e = 218;
pub const RLM_SYNC_ERR_SESSION_CLIENT_FILE_BLACKLISTED: realm_sync_errno_session_e = 219;
pub const RLM_SYNC_ERR_SESSION_USER_BLACKLISTED: realm_sync_errno_session_e = 220;
pub const RLM_SYNC_ERR_SESSION_TRANSACT_BEFORE_UPLOAD: realm_sync_errno_session_e = 221;
pub const RLM_SYNC_ERR_SESSION_CLIENT_FILE_EXPIRED: realm_sync_errno_session_e = 222;
pub const RLM_SYNC_ERR_SESSION_USER_MISMATCH: realm_sync_errno_session_e = 223;
pub const RLM_SYNC_ERR_SESSION_TOO_MANY_SESSIONS: realm_sync_errno_session_e = 224;
pub const RLM_SYNC_ERR_SESSION_INVALID_SCHEMA_CHANGE: realm_sync_errno_session_e = 225;
pub const RLM_SYNC_ERR_SESSION_BAD_QUERY: realm_sync_errno_session_e = 226;
pub const RLM_SYNC_ERR_SESSION_OBJECT_ALREADY_EXISTS: realm_sync_errno_session_e = 227;
pub const RLM_SYNC_ERR_SESSION_SERVER_PERMISSIONS_CHANGED: realm_sync_errno_session_e = 228;
pub const RLM_SYNC_ERR_SESSION_INITIAL_SYNC_NOT_COMPLETED: realm_sync_errno_session_e = 229;
pub const RLM_SYNC_ERR_SESSION_WRITE_NOT_ALLOWED: realm_sync_errno_session_e = 230;
pub const RLM_SYNC_ERR_SESSION_COMPENSATING_WRITE: realm_sync_errno_session_e = 231;
pub const RLM_SYNC_ERR_SESSION_MIGRATE_TO_FLX: realm_sync_errno_session_e = 232;
pub const RLM_SYNC_ERR_SESSION_BAD_PROGRESS: realm_sync_errno_session_e = 233;
pub const RLM_SYNC_ERR_SESSION_REVERT_TO_PBS: realm_sync_errno_session_e = 234;
pub const RLM_SYNC_ERR_SESSION_BAD_SCHEMA_VERSION: realm_sync_errno_session_e = 235;
pub const RLM_SYNC_ERR_SESSION_SCHEMA_VERSION_CHANGED: realm_sync_errno_session_e = 236;

pub type realm_web_socket_errno_e = c_uint;
pub const RLM_ERR_WEBSOCKET_OK: realm_web_socket_errno_e = 1000;
pub const RLM_ERR_WEBSOCKET_GOINGAWAY: realm_web_socket_errno_e = 1001;
pub const RLM_ERR_WEBSOCKET_PROTOCOLERROR: realm_web_socket_errno_e = 1002;
pub const RLM_ERR_WEBSOCKET_UNSUPPORTEDDATA: realm_web_socket_errno_e = 1003;
pub const RLM_ERR_WEBSOCKET_RESERVED: realm_web_socket_errno_e = 1004;
pub const RLM_ERR_WEBSOCKET_NOSTATUSRECEIVED: realm_web_socket_errno_e = 1005;
pub const RLM_ERR_WEBSOCKET_ABNORMALCLOSURE: realm_web_socket_errno_e = 1006;
pub const RLM_ERR_WEBSOCKET_INVALIDPAYLOADDATA: realm_web_socket_errno_e = 1007;
pub const RLM_ERR_WEBSOCKET_POLICYVIOLATION: realm_web_socket_errno_e = 1008;
pub const RLM_ERR_WEBSOCKET_MESSAGETOOBIG: realm_web_socket_errno_e = 1009;
pub const RLM_ERR_WEBSOCKET_INAVALIDEXTENSION: realm_web_socket_errno_e = 1010;
pub const RLM_ERR_WEBSOCKET_INTERNALSERVERERROR: realm_web_socket_errno_e = 1011;
pub const RLM_ERR_WEBSOCKET_TLSHANDSHAKEFAILED: realm_web_socket_errno_e = 1015;
pub const RLM_ERR_WEBSOCKET_UNAUTHORIZED: realm_web_socket_errno_e = 4001;
pub const RLM_ERR_WEBSOCKET_FORBIDDEN: realm_web_socket_errno_e = 4002;
pub const RLM_ERR_WEBSOCKET_MOVEDPERMANENTLY: realm_web_socket_errno_e = 4003;
pub const RLM_ERR_WEBSOCKET_RESOLVE_FAILED: realm_web_socket_errno_e = 4400;
pub const RLM_ERR_WEBSOCKET_CONNECTION_FAILED: realm_web_socket_errno_e = 4401;
pub const RLM_ERR_WEBSOCKET_READ_ERROR: realm_web_socket_errno_e = 4402;
pub const RLM_ERR_WEBSOCKET_WRITE_ERROR: realm_web_socket_errno_e = 4403;
pub const RLM_ERR_WEBSOCKET_RETRY_ERROR: realm_web_socket_errno_e = 4404;
pub const RLM_ERR_WEBSOCKET_FATAL_ERROR: realm_web_socket_errno_e = 4405;

pub type realm_sync_socket_callback_result_e = c_uint;
pub const RLM_ERR_SYNC_SOCKET_SUCCESS: realm_sync_socket_callback_result_e = 0;
pub const RLM_ERR_SYNC_SOCKET_RUNTIME: realm_sync_socket_callback_result_e = 1000;
pub const RLM_ERR_SYNC_SOCKET_OUT_OF_MEMORY: realm_sync_socket_callback_result_e = 1003;
pub const RLM_ERR_SYNC_SOCKET_ADDRESS_SPACE_EXHAUSTED: realm_sync_socket_callback_result_e = 1005;
pub const RLM_ERR_SYNC_SOCKET_OPERATION_ABORTED: realm_sync_socket_callback_result_e = 1027;
pub const RLM_ERR_SYNC_SOCKET_CONNECTION_CLOSED: realm_sync_socket_callback_result_e = 1030;
pub const RLM_ERR_SYNC_SOCKET_NOT_SUPPORTED: realm_sync_socket_callback_result_e = 2001;
pub const RLM_ERR_SYNC_SOCKET_INVALID_ARGUMENT: realm_sync_socket_callback_result_e = 3000;

/// How the pages of a new encrypted file are sealed.
pub type crealm_page_cipher_e = c_uint;
pub const CREALM_PAGE_CIPHER_XCHACHA20_POLY1305: crealm_page_cipher_e = 0;
pub const CREALM_PAGE_CIPHER_AES_256_GCM: crealm_page_cipher_e = 1;
pub const CREALM_PAGE_CIPHER_REALM: crealm_page_cipher_e = 2;

/// What a long call is doing.
pub type crealm_activity_e = c_uint;
pub const CREALM_ACTIVITY_WAITING: crealm_activity_e = 0;
pub const CREALM_ACTIVITY_QUERYING: crealm_activity_e = 1;
pub const CREALM_ACTIVITY_CHECKING: crealm_activity_e = 2;
pub const CREALM_ACTIVITY_COPYING: crealm_activity_e = 3;

/// How a commit reaches the disk. docs/commit-and-locking.md says what each choice assumes about the disk.
pub type crealm_durability_e = c_uint;
pub const CREALM_DURABILITY_FULL: crealm_durability_e = 0;
pub const CREALM_DURABILITY_TWO_FLUSHES: crealm_durability_e = 1;
pub const CREALM_DURABILITY_UNSAFE: crealm_durability_e = 2;

/// What crealm_create_batch() does when an object with the primary key of a row already exists.
pub type crealm_update_mode_e = c_uint;
pub const CREALM_UPDATE_ERROR: crealm_update_mode_e = 0;
pub const CREALM_UPDATE_MODIFIED: crealm_update_mode_e = 1;
pub const CREALM_UPDATE_ALL: crealm_update_mode_e = 2;

/// What a fault is about.
pub type crealm_fault_kind_e = c_uint;
pub const CREALM_FAULT_NODE: crealm_fault_kind_e = 1;
pub const CREALM_FAULT_SPACE: crealm_fault_kind_e = 2;
pub const CREALM_FAULT_TREE: crealm_fault_kind_e = 3;
pub const CREALM_FAULT_COLUMN: crealm_fault_kind_e = 4;
pub const CREALM_FAULT_VALUE: crealm_fault_kind_e = 5;
pub const CREALM_FAULT_LINK: crealm_fault_kind_e = 6;
pub const CREALM_FAULT_INDEX: crealm_fault_kind_e = 7;

/// What bytes of a file are for.
pub type crealm_space_kind_e = c_uint;
pub const CREALM_SPACE_VALUES: crealm_space_kind_e = 1;
pub const CREALM_SPACE_BACKLINKS: crealm_space_kind_e = 2;
pub const CREALM_SPACE_INDEX: crealm_space_kind_e = 3;
pub const CREALM_SPACE_OBJECTS: crealm_space_kind_e = 4;
pub const CREALM_SPACE_SCHEMA: crealm_space_kind_e = 5;
pub const CREALM_SPACE_HISTORY: crealm_space_kind_e = 6;
pub const CREALM_SPACE_FREE: crealm_space_kind_e = 7;
pub const CREALM_SPACE_MANAGEMENT: crealm_space_kind_e = 8;

/// How a query finds the objects whose values it tests.
pub type crealm_access_e = c_uint;
pub const CREALM_ACCESS_SCAN: crealm_access_e = 0;
pub const CREALM_ACCESS_INDEX: crealm_access_e = 1;
pub const CREALM_ACCESS_WORDS: crealm_access_e = 2;
pub const CREALM_ACCESS_ROWS: crealm_access_e = 3;
pub const CREALM_ACCESS_NOTHING: crealm_access_e = 4;

/// What a file is.
pub type crealm_file_kind_e = c_uint;
pub const CREALM_FILE_EMPTY: crealm_file_kind_e = 0;
pub const CREALM_FILE_REALM: crealm_file_kind_e = 1;
pub const CREALM_FILE_ENCRYPTED: crealm_file_kind_e = 2;
pub const CREALM_FILE_OTHER: crealm_file_kind_e = 3;

/// The form of a file.
pub type crealm_file_encryption_e = c_uint;
pub const CREALM_ENCRYPTION_NONE: crealm_file_encryption_e = 0;
pub const CREALM_ENCRYPTION_CREALM: crealm_file_encryption_e = 1;
pub const CREALM_ENCRYPTION_REALM: crealm_file_encryption_e = 2;

/// What a file can be opened for.
pub type crealm_file_use_e = c_uint;
pub const CREALM_USE_NONE: crealm_file_use_e = 0;
pub const CREALM_USE_READ: crealm_file_use_e = 1;
pub const CREALM_USE_UPGRADE: crealm_file_use_e = 2;
pub const CREALM_USE_WRITE: crealm_file_use_e = 3;

/// What one of the two slots of the header is.
pub type crealm_slot_state_e = c_uint;
pub const CREALM_SLOT_EMPTY: crealm_slot_state_e = 0;
pub const CREALM_SLOT_VERSION: crealm_slot_state_e = 1;
pub const CREALM_SLOT_DAMAGED: crealm_slot_state_e = 2;
pub const CREALM_SLOT_STREAMING_MARK: crealm_slot_state_e = 3;
pub const CREALM_SLOT_UNKNOWN: crealm_slot_state_e = 4;

/// What a check found.
pub type crealm_check_result_e = c_uint;
pub const CREALM_CHECK_SOUND: crealm_check_result_e = 0;
pub const CREALM_CHECK_FAULTY: crealm_check_result_e = 1;
pub const CREALM_CHECK_UNREADABLE: crealm_check_result_e = 2;

/// The result for one version.
pub type crealm_version_state_e = c_uint;
pub const CREALM_VERSION_SOUND: crealm_version_state_e = 1;
pub const CREALM_VERSION_FAULTY: crealm_version_state_e = 2;
pub const CREALM_VERSION_REUSED: crealm_version_state_e = 3;

/// One of the two versions that the header of a file leads to.
pub type crealm_version_slot_e = c_uint;
pub const CREALM_SLOT_NEWEST: crealm_version_slot_e = 0;
pub const CREALM_SLOT_PREVIOUS: crealm_version_slot_e = 1;

/// What a node on the path to a value holds.
pub type crealm_node_role_e = c_uint;
pub const CREALM_NODE_TOP: crealm_node_role_e = 1;
pub const CREALM_NODE_TABLES: crealm_node_role_e = 2;
pub const CREALM_NODE_TABLE: crealm_node_role_e = 3;
pub const CREALM_NODE_CLUSTER: crealm_node_role_e = 4;
pub const CREALM_NODE_COLUMN: crealm_node_role_e = 5;
pub const CREALM_NODE_COLLECTION: crealm_node_role_e = 6;
pub const CREALM_NODE_PART: crealm_node_role_e = 7;

/// The meaning of some bits of a value.
pub type crealm_part_kind_e = c_uint;
pub const CREALM_PART_VALUE: crealm_part_kind_e = 1;
pub const CREALM_PART_REFERENCE: crealm_part_kind_e = 2;
pub const CREALM_PART_NULL: crealm_part_kind_e = 3;
pub const CREALM_PART_KEY: crealm_part_kind_e = 4;

/// UTF-8 text of `size` bytes, not necessarily ended by NUL. NULL `data` is the null string.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_string_t {
    pub data: *const c_char,
    pub size: usize,
}

/// `size` bytes. NULL `data` is the null value; an empty value has a non-NULL pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_binary_t {
    pub data: *const u8,
    pub size: usize,
}

/// A point in time: seconds since 1970-01-01 00:00 UTC and nanoseconds. Both fields have the same
/// sign; nanoseconds stay within -999999999 to 999999999.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_timestamp_t {
    pub seconds: i64,
    pub nanoseconds: i32,
}

/// An IEEE 754 decimal128 in binary integer encoding; w\[0] is the low half.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_decimal128_t {
    pub w: [u64; 2],
}

/// The address of an object: class and object key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_link_t {
    pub target_table: realm_class_key_t,
    pub target: realm_object_key_t,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_object_id_t {
    pub bytes: [u8; 12],
}

/// The 16 bytes in the order in which the text form shows them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_uuid_t {
    pub bytes: [u8; 16],
}

/// The union of realm_value_t.
#[repr(C)]
#[derive(Clone, Copy)]
pub union realm_value_data {
    pub integer: i64,
    pub boolean: bool,
    pub string: realm_string_t,
    pub binary: realm_binary_t,
    pub timestamp: realm_timestamp_t,
    pub fnum: f32,
    pub dnum: f64,
    pub decimal128: realm_decimal128_t,
    pub object_id: realm_object_id_t,
    pub uuid: realm_uuid_t,
    pub link: realm_link_t,
    pub data: [c_char; 16],
}

/// Any value: 24 bytes, passed and returned by value. `type` says which member of the union counts;
/// none does for null, list and dictionary.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_value_t {
    pub data: realm_value_data,
    pub r#type: realm_value_type_e,
}

/// One `$n` of a query text: a single value (nb_args 1), or a list of nb_args values (is_list).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_query_arg_t {
    pub nb_args: usize,
    pub is_list: bool,
    pub arg: *mut realm_value_t,
}

/// The name of a snapshot. Equal ids of one file mean equal contents.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_version_id_t {
    pub version: u64,
    pub index: u64,
}

/// A row that went from old index `from` to new index `to`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_collection_move_t {
    pub from: usize,
    pub to: usize,
}

/// The indices from `from` up to, not including, `to`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_index_range_t {
    pub from: usize,
    pub to: usize,
}

/// One property. As input, all strings must be non-NULL ("" when there is nothing to say) and `key`
/// is ignored. As output, the strings are views into the realm's schema, gone when the schema
/// changes or the realm goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_property_info_t {
    pub name: *const c_char,
    /// the name key paths use; "" when it is the same
    pub public_name: *const c_char,
    pub r#type: realm_property_type_e,
    pub collection_type: realm_collection_type_e,
    /// class name, for objects and linking objects
    pub link_target: *const c_char,
    /// the forward link, for linking objects
    pub link_origin_property_name: *const c_char,
    pub key: realm_property_key_t,
    /// realm_property_flags_e
    pub flags: c_int,
}

/// One class. The same rules for strings and `key` apply.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_class_info_t {
    pub name: *const c_char,
    /// property name, "" when there is none
    pub primary_key: *const c_char,
    /// stored ones
    pub num_properties: usize,
    /// linking objects
    pub num_computed_properties: usize,
    pub key: realm_class_key_t,
    /// realm_class_flags_e
    pub flags: c_int,
}

/// One error. The strings are views, see the function that filled the struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct realm_error_t {
    pub error: realm_errno_e,
    pub categories: realm_error_categories,
    /// for people; never NULL when there is an error
    pub message: *const c_char,
    /// for RLM_ERR_CALLBACK: what the callback registered, else NULL
    pub user_code_error: *mut c_void,
    /// the file, for category FILE_ACCESS, else NULL
    pub path: *const c_char,
}

/// The progress of a long call. The struct may grow at its end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_progress_t {
    /// of crealm_config_set_progress()
    pub userdata: *mut c_void,
    pub activity: crealm_activity_e,
    pub done: u64,
    /// an estimate; 0: unknown
    pub total: u64,
}

/// An object that breaks a rule.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_broken_rule_t {
    pub class_name: *const c_char,
    /// -1 for a check that has no effect, as it names a property that is gone
    pub object: realm_object_key_t,
    /// the name of the rule, or else its condition or properties
    pub rule: *const c_char,
    /// a sentence with class, object and rule
    pub message: *const c_char,
}

/// Objects that break rules.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_broken_rules_t {
    pub count: usize,
    /// NULL when count is 0
    pub rules: *const crealm_broken_rule_t,
}

/// All changes of a collection or of results: the arrays of realm_collection_changes_get_changes().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_collection_changes_t {
    /// the changes happened after this version
    pub version_before: u64,
    /// up to this version
    pub version_after: u64,
    /// indices before the changes, ascending
    pub deletions: *const usize,
    pub num_deletions: usize,
    /// indices after the changes, ascending
    pub insertions: *const usize,
    pub num_insertions: usize,
    /// indices before the changes, ascending
    pub modifications: *const usize,
    pub num_modifications: usize,
    /// the same elements: indices after the changes, ascending
    pub modifications_after: *const usize,
    pub num_modifications_after: usize,
    pub moves: *const realm_collection_move_t,
    pub num_moves: usize,
    /// all elements were removed
    pub was_cleared: bool,
    /// the owner of the collection was deleted
    pub is_deleted: bool,
}

/// A pinned version. It is pinned by an open read transaction, a frozen realm, a thread-safe reference to
/// results, or a notifier that has not reported yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_pinned_version_t {
    /// as realm_get_version_id() gives it
    pub version: u64,
    /// when it was pinned; while the pin is being made, this and the ids are 0
    pub since: realm_timestamp_t,
    /// the process and thread that pinned it, with the numbers that the
    pub process_id: u64,
    /// operating system gives them; another thread may use the pin now
    pub thread_id: u64,
    /// bytes of the file that were freed after this version and cannot be used again before this pin and all older ones are released
    pub held_bytes: u64,
}

/// The name and type of a column.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ArrowSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub private_data: *mut c_void,
}

/// The values of a column.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// Arrays of one schema, one after the other.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ArrowArrayStream {
    pub get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    pub get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub private_data: *mut c_void,
}

/// Where a batch was refused.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_batch_fault_t {
    /// -1: no single row
    pub row: i64,
    /// RLM_INVALID_PROPERTY_KEY: no single property
    pub property: realm_property_key_t,
}

/// A fault of a snapshot, with its place as far as it is known.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_fault_t {
    pub kind: crealm_fault_kind_e,
    /// the byte of the (decrypted) file where the node or bytes concerned begin; 0: no single place
    pub offset: u64,
    /// or the name of a table that is no class; NULL: of no class
    pub class_name: *const c_char,
    /// NULL: of no property, or of all
    pub property: *const c_char,
    /// key of the object; -1: of none, or of several
    pub object: i64,
    /// place and fault, for people
    pub message: *const c_char,
}

/// A part of a file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_space_t {
    pub kind: crealm_space_kind_e,
    /// or the name of a table that is no class; NULL: of no class
    pub class_name: *const c_char,
    /// NULL: of no property, or of all
    pub property: *const c_char,
    pub bytes: u64,
}

/// What a commit wrote, in bytes before encryption, and the free space of the file after it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_commit_work_t {
    /// the version that the commit made; 0: the realm has not committed
    pub version: u64,
    /// nodes of objects, indexes and schema
    pub objects: u64,
    /// nodes of the history
    pub history: u64,
    /// the lists of free space, the top array and the commit record
    pub free_lists: u64,
    pub free_pieces: u64,
    pub free_bytes: u64,
    pub file_size: u64,
}

/// How a query finds its rows, and how much work that is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_query_plan_t {
    pub access: crealm_access_e,
    /// whose index is used, the first of several; else RLM_INVALID_PROPERTY_KEY
    pub property: realm_property_key_t,
    /// objects of the class, or rows of the queried collection or results
    pub objects: usize,
    /// objects on which conditions are tested, ignoring LIMIT
    pub tested: usize,
    /// rows of the result
    pub found: usize,
}

/// A slot of the header, and the version to which it leads.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_slot_info_t {
    pub state: crealm_slot_state_e,
    /// 0: not chosen yet
    pub format: u32,
    pub top_ref: u64,
    /// this and the following members: of CREALM_SLOT_VERSION only, else 0
    pub version: u64,
    /// bytes of the (decrypted) file that the version may use
    pub logical_size: u64,
    /// 0 none, 1 outside of the file, 2 in the file, 3 sync client, 4 sync server
    pub history_type: u32,
    pub history_schema_version: u32,
    /// NULL: none
    pub problem: *const c_char,
}

/// What the header and top arrays of a file say about it. The struct may grow at its end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_file_info_t {
    /// the canonical path
    pub path: *const c_char,
    pub kind: crealm_file_kind_e,
    pub encryption: crealm_file_encryption_e,
    /// a crealm_page_cipher_e; -1: not encrypted, or unknown without the key
    pub cipher: c_int,
    /// the file needs a passphrase, not a key
    pub wants_passphrase: bool,
    /// written in one piece, and not opened for writing since: it has one version
    pub is_streaming: bool,
    pub r#use: crealm_file_use_e,
    /// bytes of the file
    pub file_size: u64,
    /// bytes of its decrypted content; 0 without its key
    pub data_size: u64,
    /// the slot that the header selects; -1: the file has no header
    pub selected_slot: c_int,
    /// as stored in the header
    pub slots: [crealm_slot_info_t; 2],
    /// what an open shows: the selected slot, unless a crash came after a complete commit and before its header was written
    pub newest: crealm_slot_info_t,
    /// the library that writes files like this; NULL: unknown
    pub writer: *const c_char,
    /// why the file cannot be used, or not for writing, and what to do; NULL: no problem
    pub problem: *const c_char,
}

/// A version that was checked.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_checked_version_t {
    pub state: crealm_version_state_e,
    /// the header slot that leads to it; -1: no slot yet, see crealm_file_info_t.newest
    pub slot: c_int,
    /// what an open shows
    pub is_newest: bool,
    pub version: u64,
    pub num_faults: usize,
}

/// A fault of a file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_file_fault_t {
    pub fault: crealm_fault_t,
    /// the slot of the faulty version; -1: the file as a whole, or a version that no slot leads to
    pub slot: c_int,
}

/// What a check found. The struct may grow at its end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_check_t {
    pub result: crealm_check_result_e,
    pub info: *const crealm_file_info_t,
    /// checked versions: the newest first, then those of the slots of the header
    pub num_versions: usize,
    pub versions: *const crealm_checked_version_t,
    /// listed faults
    pub num_faults: usize,
    pub faults: *const crealm_file_fault_t,
    pub total_faults: usize,
    /// for people: a line for each version, then one for each listed fault
    pub report: *const c_char,
    /// all of this, for programs
    pub json: *const c_char,
}

/// A node on the path from the top array to a value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_location_node_t {
    pub role: crealm_node_role_e,
    /// the element that leads to the next node or holds the value; -1: the node as a whole
    pub element: i64,
    /// where the node's header is in the (decrypted) file
    pub offset: u64,
    /// bytes, including the header of 8
    pub size: u64,
}

/// Adjacent bits of a value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_location_part_t {
    pub kind: crealm_part_kind_e,
    /// in the byte at offset, counted from the lowest
    pub first_bit: u32,
    /// offset of the node that holds it
    pub node: u64,
    /// in the (decrypted) file
    pub offset: u64,
    /// 0: in an array of only zeros or nulls values take no bits
    pub bits: u64,
    /// of an encrypted file; -1: the file is plain
    pub page: i64,
    /// of an encrypted file: where the ciphertext of the byte at offset is
    pub file_offset: u64,
}

/// Where a value is stored. The struct may grow at its end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_value_location_t {
    /// on the path, beginning with the top array
    pub num_nodes: usize,
    pub nodes: *const crealm_location_node_t,
    /// in an encrypted file no part crosses the end of a page
    pub num_parts: usize,
    pub parts: *const crealm_location_part_t,
    /// of an encrypted file: decrypted bytes per page; 0: the file is plain
    pub page_size: u64,
}

/// A request to the hub.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crealm_sync_request_t {
    /// its name: "hello", "push" or "pull"
    pub function: *const c_char,
    /// JSON, with a zero byte behind
    pub body: *const c_char,
    /// bytes of the body, without the zero byte
    pub size: usize,
}

pub type realm_free_userdata_func_t = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

pub type realm_clone_userdata_func_t = Option<unsafe extern "C" fn(userdata: *const c_void) -> *mut c_void>;

/// While opening. The handles are borrowed. false makes the open fail with RLM_ERR_CALLBACK.
pub type realm_migration_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    old_realm: *mut realm_t,
    new_realm: *mut realm_t,
    schema: *const realm_schema_t,
) -> bool>;

pub type realm_data_initialization_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    realm: *mut realm_t,
) -> bool>;

/// The result is no verdict on the open: true asks for compaction.
pub type realm_should_compact_on_launch_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    total_bytes: u64,
    used_bytes: u64,
) -> bool>;

/// Changes. The change handle is borrowed; clone it to keep it.
pub type realm_on_object_change_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    changes: *const realm_object_changes_t,
)>;

pub type realm_on_collection_change_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    changes: *const realm_collection_changes_t,
)>;

pub type realm_on_dictionary_change_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    changes: *const realm_dictionary_changes_t,
)>;

pub type realm_on_realm_change_func_t = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

pub type realm_on_realm_refresh_func_t = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

pub type realm_on_schema_change_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    new_schema: *const realm_schema_t,
)>;

/// Asynchronous writes. `desc` is a borrowed text, NULL when `error` is false.
pub type realm_async_begin_write_func_t = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

pub type realm_async_commit_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    error: bool,
    desc: *const c_char,
)>;

/// A scheduler of the program's own: see realm_scheduler_new().
pub type realm_scheduler_notify_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    work_queue: *mut realm_work_queue_t,
)>;

pub type realm_scheduler_is_on_thread_func_t = Option<unsafe extern "C" fn(userdata: *mut c_void) -> bool>;

pub type realm_scheduler_is_same_as_func_t = Option<unsafe extern "C" fn(
    scheduler_userdata_1: *const c_void,
    scheduler_userdata_2: *const c_void,
) -> bool>;

pub type realm_scheduler_can_deliver_notifications_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
) -> bool>;

pub type realm_scheduler_default_factory_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
) -> *mut realm_scheduler_t>;

/// `category` and `message` are borrowed texts.
pub type realm_log_func_t = Option<unsafe extern "C" fn(
    userdata: *mut c_void,
    category: *const c_char,
    level: realm_log_level_e,
    message: *const c_char,
)>;

/// Called during a long call, on its thread.
///
/// progress: valid only inside the function.
/// Returns:  false to end the call, which then fails with CREALM_ERR_INTERRUPTED. The call has no result and
///           removes a copy that it was writing; it changes nothing else.
pub type crealm_progress_func_t = Option<unsafe extern "C" fn(progress: *const crealm_progress_t) -> bool>;

/// Tells a program that work waits for a serial scheduler.
pub type crealm_work_waits_func_t = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

extern "C" {
    /// The version of the C API that the loaded library implements, as text: RLM_C_API_VERSION of the
    /// header it was built with.
    pub fn realm_get_library_version() -> *const c_char;

    /// The same version as numbers.
    pub fn realm_get_library_version_numbers(
        out_major: *mut c_int,
        out_minor: *mut c_int,
        out_patch: *mut c_int,
        out_extra: *mut *const c_char,
    );

    /// Tells which snapshot the realm is looking at.
    ///
    /// Outside any transaction there is none: the call succeeds, *out_found is false and the id is {0,
    /// 0}. Reading anything, or realm_begin_read(), begins a read transaction.
    pub fn realm_get_version_id(
        realm: *const realm_t,
        out_found: *mut bool,
        out_version: *mut realm_version_id_t,
    ) -> bool;

    /// Counts the snapshots that the file holds at this moment, those of all threads and processes
    /// taken together. A file of which no old version is pinned has two: the newest and the one
    /// before it. A growing number points to a reader that never refreshes.
    pub fn realm_get_num_versions(realm: *const realm_t, out_versions_count: *mut u64) -> bool;

    /// Reads the calling thread's last error without clearing it.
    pub fn realm_get_last_error(out_error: *mut realm_error_t) -> bool;

    /// Empties the calling thread's slot and ends the life of the texts in it.
    pub fn realm_clear_last_error() -> bool;

    /// Copies the calling thread's last error into a handle that may go to another thread. The slot
    /// keeps its contents. Such handles can be cloned, and are equal when number and message are.
    pub fn realm_get_last_error_as_async_error() -> *mut realm_async_error_t;

    /// Reads an error handle.
    pub fn realm_get_async_error(
        async_error: *const realm_async_error_t,
        out_error: *mut realm_error_t,
    ) -> bool;

    /// Lets a callback say why it failed. Call it inside a migration, initialization or compaction
    /// callback, just before the callback returns. The function that ran the callback then fails with
    /// CALLBACK, and the pointer comes back as user_code_error. For a compaction callback registering
    /// is the only way to fail.
    pub fn realm_register_user_code_callback_error(usercode_error: *mut c_void);

    /// Frees a buffer that a function of this library handed over with the remark "free with
    /// realm_free()". Handles go to realm_release() instead.
    pub fn realm_free(buffer: *mut c_void);

    /// Gives back an own handle of any type.
    ///
    /// Releasing a token ends its callbacks. Releasing a realm handle closes the realm only when
    /// nothing else refers to it: objects, collections, results and tokens do. Use realm_close() to
    /// close it at once. Releasing an object or collection handle ends the change callbacks registered
    /// on it.
    pub fn realm_release(ptr: *mut c_void);

    /// Makes a second handle to the same thing: realm, schema, scheduler, object, list, set,
    /// dictionary, query, results, change set or error. Change callbacks stay with the original handle.
    pub fn realm_clone(ptr: *const c_void) -> *mut c_void;

    /// Compares two handles. Handles of different types are never equal.
    ///
    ///   realm                   the same open instance; two opens of one file are equal only if cached
    ///   schema                  the same classes and properties
    ///   object                  the same object seen through the same realm instance
    ///   list, set, dictionary   the same instance, owner object and property; nesting is not compared
    ///   scheduler               the same scheduler, or its is_same_as says so
    ///   error                   equal number and message
    ///   everything else         the same pointer
    pub fn realm_equals(a: *const c_void, b: *const c_void) -> bool;

    /// Tells whether a handle is a frozen realm (realm_freeze()), or an object, list, set, dictionary
    /// or results in one.
    pub fn realm_is_frozen(ptr: *const c_void) -> bool;

    /// Sends all further messages to a function, or back to standard error.
    pub fn realm_set_log_callback(
        callback: realm_log_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
    );

    /// Sets the level of all categories.
    pub fn realm_set_log_level(level: realm_log_level_e);

    /// Sets the level of one category and of those below it.
    pub fn realm_set_log_level_category(
        category: *const c_char,
        level: realm_log_level_e,
    ) -> realm_log_level_e;

    /// The level of one category.
    pub fn realm_get_log_level_category(category: *const c_char) -> realm_log_level_e;

    /// Lists the categories in alphabetical order.
    pub fn realm_get_category_names(num_values: usize, out_values: *mut *const c_char) -> usize;

    /// Makes a config with these defaults: empty path, no schema, no schema version, automatic schema
    /// mode, strict subset mode, no encryption, on disk, not cached, automatic change notifications on,
    /// format upgrades allowed, any number of versions, the default scheduler of the opening thread.
    pub fn realm_config_new() -> *mut realm_config_t;

    /// The path, a view; never NULL, "" when none was set.
    pub fn realm_config_get_path(config: *const realm_config_t) -> *const c_char;

    /// Sets the path of the file. Two opens mean the same file only when they spell its path alike.
    pub fn realm_config_set_path(config: *mut realm_config_t, path: *const c_char);

    /// Reads the encryption key.
    pub fn realm_config_get_encryption_key(config: *const realm_config_t, out_key: *mut u8) -> usize;

    /// Sets the key that encrypts a new file and opens an existing one.
    pub fn realm_config_set_encryption_key(
        config: *mut realm_config_t,
        key: *const u8,
        key_size: usize,
    ) -> bool;

    /// The schema as an own handle; NULL without an error when none is set.
    pub fn realm_config_get_schema(config: *const realm_config_t) -> *mut realm_schema_t;

    /// Sets the schema the opened realm shall have. Without one the realm is dynamic: it shows all
    /// classes of the file and follows later changes of them.
    pub fn realm_config_set_schema(config: *mut realm_config_t, schema: *const realm_schema_t);

    /// The schema version; UINT64_MAX when none was set.
    pub fn realm_config_get_schema_version(config: *const realm_config_t) -> u64;

    /// Sets the schema version. It is ignored without a schema.
    pub fn realm_config_set_schema_version(config: *mut realm_config_t, version: u64);

    /// The schema mode.
    pub fn realm_config_get_schema_mode(config: *const realm_config_t) -> realm_schema_mode_e;

    /// Chooses what may happen when schema and file differ.
    pub fn realm_config_set_schema_mode(config: *mut realm_config_t, mode: realm_schema_mode_e);

    /// The subset mode.
    pub fn realm_config_get_schema_subset_mode(config: *const realm_config_t) -> realm_schema_subset_mode_e;

    /// Chooses whether the realm also shows what the file has beyond the schema. Other properties of
    /// the schema's own classes can be shown in additive, immutable and read-only modes only.
    pub fn realm_config_set_schema_subset_mode(config: *mut realm_config_t, mode: realm_schema_subset_mode_e);

    /// Sets the function that carries data over when the schema version of the file is lower.
    ///
    /// It runs inside realm_open(), in the write transaction of the migration, with two borrowed
    /// realms: the old one is a read-only view of the file before the migration with all its classes;
    /// the new one is writable and has the target schema. New classes and columns exist already,
    /// columns that will go still do, primary keys may be set freely and are checked afterwards. It
    /// must neither commit nor roll back. The handles are good inside the call only. false leaves the
    /// file unchanged and makes the open fail with CALLBACK.
    pub fn realm_config_set_migration_function(
        config: *mut realm_config_t,
        function: realm_migration_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
    );

    /// Sets the function that fills a new file. It runs once in the life of a file, right after its
    /// schema was created, in the same write transaction, with a borrowed realm. false leaves the file
    /// without a schema and makes the open fail with CALLBACK.
    pub fn realm_config_set_data_initialization_function(
        config: *mut realm_config_t,
        function: realm_data_initialization_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
    );

    /// Sets the function that decides whether to compact the file. It is asked when the process opens
    /// the file for the first time and there is free space in it, with the size of the file and the
    /// part of it in use, in bytes. true compacts, unless another process has the file open; a failure
    /// to compact does not stop the open. An error registered with
    /// realm_register_user_code_callback_error() makes the open fail with CALLBACK whatever was
    /// returned.
    pub fn realm_config_set_should_compact_on_launch_function(
        config: *mut realm_config_t,
        function: realm_should_compact_on_launch_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
    );

    /// Whether format upgrades are disabled.
    pub fn realm_config_get_disable_format_upgrade(config: *const realm_config_t) -> bool;

    /// Asks the file whether it is in an older format that opening it would upgrade.
    pub fn realm_config_needs_file_format_upgrade(config: *const realm_config_t) -> bool;

    /// Forbids upgrading older files: opening one then fails with FILE_FORMAT_UPGRADE_REQUIRED.
    pub fn realm_config_set_disable_format_upgrade(config: *mut realm_config_t, disable: bool);

    /// What realm_config_set_automatic_change_notifications() set; true at first.
    pub fn realm_config_get_automatic_change_notifications(config: *const realm_config_t) -> bool;

    /// Says whether the realm hears of the commits of others, in this process or another one: then its
    /// scheduler gets a turn, in which the realm moves to the newest snapshot and callbacks run. Without,
    /// that happens only inside realm_refresh(), realm_begin_write() and realm_commit(). A file that is
    /// watched costs one thread, which sleeps until the next commit.
    pub fn realm_config_set_automatic_change_notifications(config: *mut realm_config_t, automatic: bool);

    /// Sets the scheduler, and with it the thread, that the realm will belong to.
    pub fn realm_config_set_scheduler(config: *mut realm_config_t, scheduler: *const realm_scheduler_t);

    /// The flag set below.
    pub fn realm_config_get_force_sync_history(config: *const realm_config_t) -> bool;

    /// Marks a new file as one that keeps the history form used with sync servers. Local programs leave
    /// this off.
    pub fn realm_config_set_force_sync_history(config: *mut realm_config_t, force: bool);

    /// The limit on live snapshots; UINT64_MAX for none.
    pub fn realm_config_get_max_number_of_active_versions(config: *const realm_config_t) -> u64;

    /// Limits the number of live snapshots: while the file holds more than this, beginning a write
    /// fails with WRONG_TRANSACTION_STATE. A guard against files that grow because a reader keeps an
    /// old one.
    pub fn realm_config_set_max_number_of_active_versions(config: *mut realm_config_t, max_versions: u64);

    /// Keeps the data in memory only: it lives while an instance of the path is open in any process. A
    /// file marks the place meanwhile. Cannot be combined with encryption. Opening fails with
    /// FILE_ALREADY_EXISTS when a database is there that is not in memory: realm-core empties and
    /// removes it.
    pub fn realm_config_set_in_memory(config: *mut realm_config_t, in_memory: bool);

    /// Whether the realm lives in memory only.
    pub fn realm_config_get_in_memory(config: *mut realm_config_t) -> bool;

    /// Sets a folder for the helper files that processes use to wake each other, for file systems that
    /// do not support them beside the realm itself.
    pub fn realm_config_set_fifo_path(config: *mut realm_config_t, path: *const c_char);

    /// The folder set above, a view; "" when none was set.
    pub fn realm_config_get_fifo_path(config: *mut realm_config_t) -> *const c_char;

    /// Makes opens on equal schedulers share one instance, so that realm_equals() is true for them and
    /// closing one closes all.
    pub fn realm_config_set_cached(config: *mut realm_config_t, cached: bool);

    /// Whether instances are shared.
    pub fn realm_config_get_cached(config: *mut realm_config_t) -> bool;

    /// Decides what a migration of a class from top-level to embedded does with objects that do not
    /// have exactly one parent. On: parentless ones are deleted, shared ones are copied for each
    /// parent. Off (the default): the migration fails with ILLEGAL_OPERATION.
    pub fn realm_config_set_automatic_backlink_handling(config: *mut realm_config_t, automatic: bool);

    /// Makes a scheduler from functions of the program. Each may be NULL.
    pub fn realm_scheduler_new(
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        notify: realm_scheduler_notify_func_t,
        is_on_thread: realm_scheduler_is_on_thread_func_t,
        is_same_as: realm_scheduler_is_same_as_func_t,
        can_deliver_notifications: realm_scheduler_can_deliver_notifications_func_t,
    ) -> *mut realm_scheduler_t;

    /// Runs everything that waits in the queue at this moment. Work added meanwhile waits for the next
    /// notify. Callbacks of the program run inside this call.
    pub fn realm_scheduler_perform_work(work_queue: *mut realm_work_queue_t);

    /// Makes a scheduler for the calling thread, of the kind that realm_open() uses by default. It has
    /// a file descriptor that an event loop can watch: see crealm_scheduler_get_fd() and
    /// crealm_scheduler_run() in crealm.h. All default schedulers of one thread count as the same.
    ///
    /// It ends with its thread. Work of realms that are still open ends then, as in realm_close(): a
    /// write is rolled back, which frees the write lock; callbacks of realm_async_begin_write() are
    /// dropped; commits are waited for and their callbacks run, on the ending thread, after its
    /// thread-local objects of C++ are gone. Such a realm can be closed on any thread, or taken over if
    /// realm_create_thread_safe_reference() was called for it; all other confined calls fail with
    /// WRONG_THREAD, also on a new thread that gets the same number from the system. The end of the
    /// process does not count as the end of its threads.
    pub fn realm_scheduler_make_default() -> *mut realm_scheduler_t;

    /// Reserved.
    pub fn realm_scheduler_get_frozen() -> *const realm_scheduler_t;

    /// Opens or creates the file of a config, brings its schema in line, and runs the config's
    /// callbacks as needed.
    ///
    /// The realm belongs to the config's scheduler. No transaction is open afterwards. Opening a path
    /// again in the same process requires the same encryption key, kind of storage, schema mode and,
    /// where both name one, schema version.
    pub fn realm_open(config: *const realm_config_t) -> *mut realm_t;

    /// Deletes a realm file and its companions (.note, .log, .management). The .lock file stays:
    /// removing it could break a process that is about to open the file.
    pub fn realm_delete_files(realm_file_path: *const c_char, did_delete_realm: *mut bool) -> bool;

    /// Rewrites the file of a realm without its free space. Objects, collections and results of the
    /// realm stay good; views do not, and an open read transaction ends even when nothing was done.
    ///
    /// A file of almost the same size stands beside the old one until the end; a crash leaves the old
    /// file or the new one. The memory needed does not grow with the file.
    pub fn realm_compact(realm: *mut realm_t, did_compact: *mut bool) -> bool;

    /// Copies what a realm shows to the file of a config: a new file without free space, or the objects
    /// one by one into a file that is there.
    ///
    /// A new file gets its name when it is complete. Inside a write transaction its changes are copied
    /// too. When merging, objects with a primary key that the other file has overwrite what it
    /// has; links, embedded objects and collections come along; classes and properties that it lacks
    /// are made; objects that only it has stay. All of it happens in one write transaction of the other
    /// file.
    pub fn realm_convert_with_config(
        realm: *const realm_t,
        config: *const realm_config_t,
        merge_with_existing: bool,
    ) -> bool;

    /// Copies what a realm shows to another file, as realm_convert_with_config() does.
    pub fn realm_convert_with_path(
        realm: *const realm_t,
        path: *const c_char,
        encryption_key: realm_binary_t,
        merge_with_existing: bool,
    ) -> bool;

    /// Closes a realm, even when other parts of the program hold handles to it. An open write
    /// transaction is rolled back. Objects and collections of the realm are invalid from now on,
    /// results are stale; all handles still have to be released. Closing again does nothing.
    ///
    /// The call waits for asynchronous commits that are not on disk yet. It runs the callbacks of
    /// realm_async_commit() that have not run yet, and the userdata_free functions of all callbacks
    /// that it drops. It calls no other function of the program: waiting callbacks of
    /// realm_async_begin_write() are dropped, and no change callbacks run.
    pub fn realm_close(realm: *mut realm_t) -> bool;

    /// Whether the realm was closed.
    pub fn realm_is_closed(realm: *mut realm_t) -> bool;

    /// Begins a read transaction at the newest snapshot; does nothing when one is open. Rarely needed:
    /// reading anything does the same.
    pub fn realm_begin_read(realm: *mut realm_t) -> bool;

    /// Begins a write transaction: waits for the file's write lock, then moves to the newest snapshot.
    /// The callbacks that are due because of that move run inside this call. A callback that commits,
    /// rolls back or closes the realm leaves no transaction open, but this call still returns true: if
    /// your callbacks do that, check realm_is_writable().
    pub fn realm_begin_write(realm: *mut realm_t) -> bool;

    /// Whether a write transaction is open or has been asked for, or a commit may not be on disk yet.
    pub fn realm_is_writable(realm: *const realm_t) -> bool;

    /// Ends the write transaction and keeps its changes: they are on disk when the call returns, and
    /// the realm reads the new snapshot. Realm-changed callbacks run inside the call; collection
    /// callbacks run later, on the scheduler.
    pub fn realm_commit(realm: *mut realm_t) -> bool;

    /// Asks for a write transaction without waiting for it. The callback runs on the realm's scheduler,
    /// inside the transaction, which it ends with realm_async_commit(), realm_commit() or
    /// realm_rollback(); a transaction that it leaves open is rolled back. Callbacks run in the order
    /// of these calls. realm_begin_write() goes ahead of callbacks that have not run; closing the realm
    /// drops them. The file's write lock is acquired for the callback and is then held until the
    /// scheduler runs the callback: a program that calls this function and never runs its scheduler
    /// keeps all other programs from writing.
    pub fn realm_async_begin_write(
        realm: *mut realm_t,
        callback: realm_async_begin_write_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        notify_only: bool,
        transaction_id: *mut c_uint,
    ) -> bool;

    /// Ends the write transaction and keeps its changes, without waiting for the disk. Every realm,
    /// also in other processes, sees the changes at once; realm-changed callbacks run inside the call.
    /// The write lock is held until the changes are on disk. Then the callback runs on the scheduler;
    /// callbacks run in the order of the commits. The transaction may also be one that
    /// realm_begin_write() began. A later realm_commit(), and closing the realm, wait for earlier
    /// asynchronous commits and run their callbacks.
    ///
    /// Commits that reach the disk together are atomic together: after a crash either all of them or
    /// none of them are in the file. (In encrypted files each commit is flushed separately: after a
    /// crash the file has all commits up to one of them.)
    pub fn realm_async_commit(
        realm: *mut realm_t,
        callback: realm_async_commit_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        allow_grouping: bool,
        transaction_id: *mut c_uint,
    ) -> bool;

    /// Drops a callback that has not run. For realm_async_begin_write() the write then does not happen;
    /// for realm_async_commit() the commit itself stays.
    pub fn realm_async_cancel(realm: *mut realm_t, token: c_uint, cancelled: *mut bool) -> bool;

    /// Ends the write transaction and discards its changes. Objects created in it become invalid;
    /// objects deleted in it exist again.
    pub fn realm_rollback(realm: *mut realm_t) -> bool;

    /// Moves to the newest snapshot and runs the callbacks that are due. Handles follow the realm to
    /// that snapshot and need not be fetched again.
    pub fn realm_refresh(realm: *mut realm_t, did_refresh: *mut bool) -> bool;

    /// Inside a migration: deletes a class that the new schema no longer has, with all its objects. No
    /// schema mode does that automatically: the table of a class that is no longer in the schema stays
    /// in the file.
    pub fn realm_remove_table(
        realm: *mut realm_t,
        table_name: *const c_char,
        table_deleted: *mut bool,
    ) -> bool;

    /// Registers a function that is called whenever the realm moves to another snapshot: inside each
    /// commit of this realm, and on each move to a commit made by another instance or process. It is
    /// not called for rollbacks.
    pub fn realm_add_realm_changed_callback(
        realm: *mut realm_t,
        callback: realm_on_realm_change_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
    ) -> *mut realm_callback_token_t;

    /// Registers a function that is called once, when the realm reaches the snapshot that is the newest
    /// now.
    pub fn realm_add_realm_refresh_callback(
        realm: *mut realm_t,
        callback: realm_on_realm_refresh_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
    ) -> *mut realm_refresh_callback_token_t;

    /// Opens a second, frozen realm at the snapshot that the realm reads. Any thread may read it.
    ///
    /// Nothing is copied, whatever the size of the file. The file keeps the snapshot, beside newer
    /// data, until the frozen realm is closed, or released together with all handles that came from it.
    /// Closing the live realm does not affect the frozen one. Freezing a realm with a cached config
    /// twice at the same snapshot gives the same instance. A frozen realm can be frozen, too.
    ///
    /// Writing, compacting and registering callbacks fail with WRONG_TRANSACTION_STATE in a frozen
    /// realm. realm_refresh() never moves it. realm_update_schema() only checks that the snapshot can
    /// be read with the new schema, which may name classes that the snapshot lacks.
    pub fn realm_freeze(realm: *const realm_t) -> *mut realm_t;

    /// Makes a reference to a realm, an object, a list, a set, a dictionary or results, for another
    /// thread.
    ///
    ///   realm         the instance itself; it then belongs to the thread that resolves the reference
    ///   results       the query and its snapshot, which the file keeps until the reference is
    ///                 released
    ///   others        the object or collection, as it is in the snapshot where the reference is
    ///                 resolved
    pub fn realm_create_thread_safe_reference(handle: *const c_void) -> *mut realm_thread_safe_reference_t;

    /// Resolves a reference to a realm: binds that instance to a scheduler. From then on, all handles
    /// of the instance and of its objects may be used on the scheduler's thread only. When the config
    /// is cached, and the scheduler already has a realm of that config open, the call returns that
    /// realm instead. A frozen realm stays frozen and bound to no thread.
    pub fn realm_from_thread_safe_reference(
        tsr: *mut realm_thread_safe_reference_t,
        scheduler: *mut realm_scheduler_t,
    ) -> *mut realm_t;

    /// Resolves a reference to an object.
    ///
    /// The realm moves to a snapshot that has the object. A realm in no transaction begins one at the
    /// snapshot where the reference was made, if that is still kept, else at the newest. A realm at an
    /// older snapshot moves to the newest, as with realm_refresh(). A reference made in a write
    /// transaction can be resolved only after the commit of that transaction. The same holds for
    /// references to collections and results.
    pub fn realm_object_from_thread_safe_reference(
        realm: *const realm_t,
        reference: *mut realm_thread_safe_reference_t,
    ) -> *mut realm_object_t;

    /// Resolves a reference to a list, as realm_object_from_thread_safe_reference() does.
    pub fn realm_list_from_thread_safe_reference(
        realm: *const realm_t,
        reference: *mut realm_thread_safe_reference_t,
    ) -> *mut realm_list_t;

    /// Resolves a reference to a set, as realm_object_from_thread_safe_reference() does.
    pub fn realm_set_from_thread_safe_reference(
        realm: *const realm_t,
        reference: *mut realm_thread_safe_reference_t,
    ) -> *mut realm_set_t;

    /// Resolves a reference to a dictionary, as realm_object_from_thread_safe_reference() does.
    pub fn realm_dictionary_from_thread_safe_reference(
        realm: *const realm_t,
        reference: *mut realm_thread_safe_reference_t,
    ) -> *mut realm_dictionary_t;

    /// Resolves a reference to results, as realm_object_from_thread_safe_reference() does. They are
    /// live results of that realm; while it stays at the snapshot of the reference they have the rows
    /// that the referenced results had.
    pub fn realm_results_from_thread_safe_reference(
        realm: *const realm_t,
        reference: *mut realm_thread_safe_reference_t,
    ) -> *mut realm_results_t;

    /// Makes a schema.
    pub fn realm_schema_new(
        classes: *const realm_class_info_t,
        num_classes: usize,
        class_properties: *mut *const realm_property_info_t,
    ) -> *mut realm_schema_t;

    /// The schema of an open realm.
    pub fn realm_get_schema(realm: *const realm_t) -> *mut realm_schema_t;

    /// The schema version of an open realm; UINT64_MAX when the file has none.
    pub fn realm_get_schema_version(realm: *const realm_t) -> u64;

    /// Reads the schema version stored in a config's file without opening a realm. A missing file is
    /// created.
    pub fn realm_get_persisted_schema_version(config: *const realm_config_t) -> u64;

    /// Changes the schema of an open realm, as opening the file with that schema and version 0 would.
    /// So it works only for files of schema version 0, unless the realm has the schema already. The
    /// call makes its own write transaction. Schema-changed callbacks run inside the call.
    pub fn realm_update_schema(realm: *mut realm_t, schema: *const realm_schema_t) -> bool;

    /// Changes the schema and the schema version of an open realm. The functions given here are used
    /// for this call only; those of its config are not called.
    pub fn realm_update_schema_advanced(
        realm: *mut realm_t,
        schema: *const realm_schema_t,
        version: u64,
        migration_func: realm_migration_func_t,
        migration_func_userdata: *mut c_void,
        initialization_func: realm_data_initialization_func_t,
        initialization_func_userdata: *mut c_void,
        is_in_transaction: bool,
    ) -> bool;

    /// Inside a migration: keeps the values of a property under its new name. Without this call the old
    /// property is dropped and the new one starts with default values.
    pub fn realm_schema_rename_property(
        realm: *mut realm_t,
        schema: *mut realm_schema_t,
        object_type: *const c_char,
        old_name: *const c_char,
        new_name: *const c_char,
    ) -> bool;

    /// Registers a function that is called whenever the schema of the realm changes: because this realm
    /// changed it, or because it moved to a snapshot in which another realm added classes or
    /// properties. It runs before the realm-changed callbacks.
    pub fn realm_add_schema_changed_callback(
        realm: *mut realm_t,
        callback: realm_on_schema_change_func_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
    ) -> *mut realm_callback_token_t;

    /// Checks a schema against itself: unknown link targets, types that cannot be keys or indexed,
    /// duplicate names, embedded classes that contain themselves, and the like.
    pub fn realm_schema_validate(schema: *const realm_schema_t, validation_mode: u64) -> bool;

    /// The number of classes in the realm's schema.
    pub fn realm_get_num_classes(realm: *const realm_t) -> usize;

    /// The keys of all classes, in the order of their names.
    pub fn realm_get_class_keys(
        realm: *const realm_t,
        out_keys: *mut realm_class_key_t,
        max: usize,
        out_n: *mut usize,
    ) -> bool;

    /// Looks a class up by name. An unknown name is no error: *out_found is false.
    pub fn realm_find_class(
        realm: *const realm_t,
        name: *const c_char,
        out_found: *mut bool,
        out_class_info: *mut realm_class_info_t,
    ) -> bool;

    /// Describes a class.
    pub fn realm_get_class(
        realm: *const realm_t,
        key: realm_class_key_t,
        out_class_info: *mut realm_class_info_t,
    ) -> bool;

    /// Describes all properties of a class: the stored ones in their order, then the computed ones.
    pub fn realm_get_class_properties(
        realm: *const realm_t,
        key: realm_class_key_t,
        out_properties: *mut realm_property_info_t,
        max: usize,
        out_n: *mut usize,
    ) -> bool;

    /// The keys of all properties of a class, in the same order.
    pub fn realm_get_property_keys(
        realm: *const realm_t,
        key: realm_class_key_t,
        out_col_keys: *mut realm_property_key_t,
        max: usize,
        out_n: *mut usize,
    ) -> bool;

    /// Describes a property.
    pub fn realm_get_property(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        key: realm_property_key_t,
        out_property_info: *mut realm_property_info_t,
    ) -> bool;

    /// Looks a property up by its stored name. An unknown name is no error: *out_found is false.
    pub fn realm_find_property(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        name: *const c_char,
        out_found: *mut bool,
        out_property_info: *mut realm_property_info_t,
    ) -> bool;

    /// Looks a property up by its public name, or by its stored name if it has no public one.
    pub fn realm_find_property_by_public_name(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        public_name: *const c_char,
        out_found: *mut bool,
        out_property_info: *mut realm_property_info_t,
    ) -> bool;

    /// Describes the primary key of a class. A class without one is no error: *out_found is false.
    pub fn realm_find_primary_key_property(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        out_found: *mut bool,
        out_property_info: *mut realm_property_info_t,
    ) -> bool;

    /// Reads a property of an object by position, as realm_get_value() does by key.
    pub fn realm_get_value_by_property_index(
        object: *const realm_object_t,
        prop_index: usize,
        out_value: *mut realm_value_t,
    ) -> bool;

    /// Counts the objects of a class.
    pub fn realm_get_num_objects(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        out_count: *mut usize,
    ) -> bool;

    /// Finds an object by its key.
    pub fn realm_get_object(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        obj_key: realm_object_key_t,
    ) -> *mut realm_object_t;

    /// The object that contains an embedded object.
    pub fn realm_object_get_parent(
        object: *const realm_object_t,
        parent: *mut *mut realm_object_t,
        class_key: *mut realm_class_key_t,
    ) -> bool;

    /// Finds an object by its primary key.
    pub fn realm_object_find_with_primary_key(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        pk: realm_value_t,
        out_found: *mut bool,
    ) -> *mut realm_object_t;

    /// All objects of a class, in the order of their keys.
    pub fn realm_object_find_all(realm: *const realm_t, class_key: realm_class_key_t) -> *mut realm_results_t;

    /// Creates an object with default values: zero, false, empty or, where allowed, null.
    pub fn realm_object_create(realm: *mut realm_t, class_key: realm_class_key_t) -> *mut realm_object_t;

    /// Creates an object with a primary key.
    pub fn realm_object_create_with_primary_key(
        realm: *mut realm_t,
        class_key: realm_class_key_t,
        pk: realm_value_t,
    ) -> *mut realm_object_t;

    /// Finds the object with a primary key or creates it.
    pub fn realm_object_get_or_create_with_primary_key(
        realm: *mut realm_t,
        class_key: realm_class_key_t,
        pk: realm_value_t,
        did_create: *mut bool,
    ) -> *mut realm_object_t;

    /// Deletes an object and the embedded objects in it. Links to it become null or leave their
    /// collections.
    pub fn realm_object_delete(object: *mut realm_object_t) -> bool;

    /// Finds the same object in another realm of the same file.
    pub fn realm_object_resolve_in(
        live_object: *const realm_object_t,
        target_realm: *const realm_t,
        resolved: *mut *mut realm_object_t,
    ) -> bool;

    /// Adds a number to an integer property, or to a Mixed property that holds an integer. Overflow
    /// wraps.
    pub fn realm_object_add_int(
        object: *mut realm_object_t,
        property_key: realm_property_key_t,
        value: i64,
    ) -> bool;

    /// Whether the object still exists and its realm is open.
    pub fn realm_object_is_valid(object: *const realm_object_t) -> bool;

    /// The object's key; works on invalid objects too.
    pub fn realm_object_get_key(object: *const realm_object_t) -> realm_object_key_t;

    /// The key of the object's class; works on invalid objects too.
    pub fn realm_object_get_table(object: *const realm_object_t) -> realm_class_key_t;

    /// The object's address, ready to be the link of a realm_value_t.
    pub fn realm_object_as_link(object: *const realm_object_t) -> realm_link_t;

    /// Reads a single-valued property.
    ///
    /// A link comes as RLM_TYPE_LINK with the target's class. A Mixed property that holds a collection
    /// gives RLM_TYPE_LIST or RLM_TYPE_DICTIONARY: fetch it with realm_get_list() or
    /// realm_get_dictionary().
    pub fn realm_get_value(
        object: *const realm_object_t,
        property: realm_property_key_t,
        out_value: *mut realm_value_t,
    ) -> bool;

    /// Reads several properties in one call, each as realm_get_value() does.
    pub fn realm_get_values(
        object: *const realm_object_t,
        num_values: usize,
        properties: *const realm_property_key_t,
        out_values: *mut realm_value_t,
    ) -> bool;

    /// Writes a single-valued property.
    ///
    /// A primary key should only be written in a migration, which checks at its end that keys are
    /// unique. RLM_TYPE_LIST and RLM_TYPE_DICTIONARY make a Mixed property hold an empty collection; if
    /// it already holds one of that kind, that is kept with its elements, as in realm_set_list().
    /// Writing null to a property that holds an embedded object deletes that object.
    pub fn realm_set_value(
        object: *mut realm_object_t,
        property: realm_property_key_t,
        new_value: realm_value_t,
        is_default: bool,
    ) -> bool;

    /// Writes several properties. All values are checked before the first is written, so that after a
    /// failed check nothing has changed.
    pub fn realm_set_values(
        object: *mut realm_object_t,
        num_values: usize,
        properties: *const realm_property_key_t,
        values: *const realm_value_t,
        is_default: bool,
    ) -> bool;

    /// Writes a JSON text into a Mixed property and replaces what it held.
    ///
    /// Arrays become lists and objects become dictionaries, nested to any depth that collections allow.
    /// A number without fraction and exponent becomes an integer if it fits into 64 bits, any other a
    /// double. Of two members with the same name the last one is used.
    pub fn realm_set_json(
        object: *mut realm_object_t,
        property: realm_property_key_t,
        json_string: *const c_char,
    ) -> bool;

    /// Creates an embedded object in a link property and deletes the one that the property held. For a
    /// property that links to an ordinary class the new object is an ordinary one, and an old target
    /// stays.
    pub fn realm_set_embedded(
        object: *mut realm_object_t,
        property: realm_property_key_t,
    ) -> *mut realm_object_t;

    /// Makes a Mixed property hold a list. If it already holds a list, that is kept with its elements;
    /// any other value is replaced by an empty list.
    pub fn realm_set_list(object: *mut realm_object_t, property: realm_property_key_t) -> *mut realm_list_t;

    /// Makes a Mixed property hold a dictionary, as realm_set_list() does with a list.
    pub fn realm_set_dictionary(
        object: *mut realm_object_t,
        property: realm_property_key_t,
    ) -> *mut realm_dictionary_t;

    /// Follows a link property.
    pub fn realm_get_linked_object(
        object: *mut realm_object_t,
        property: realm_property_key_t,
    ) -> *mut realm_object_t;

    /// The object as text for people, similar to JSON. Embedded objects and collections are written
    /// out; links show the primary key of their target, or its object key; linking objects are left
    /// out. The object key comes first, as "_key", unless the class is embedded or has a primary key.
    /// The text cannot be parsed back: binaries, timestamps and the like are strings, and NaN is not
    /// valid JSON.
    pub fn realm_object_to_string(object: *mut realm_object_t) -> *mut c_char;

    /// The list in a list property, or in a Mixed property that holds one.
    pub fn realm_get_list(object: *mut realm_object_t, property: realm_property_key_t) -> *mut realm_list_t;

    /// The set in a set property. A Mixed property is accepted, but no Mixed value is a set.
    pub fn realm_get_set(object: *mut realm_object_t, property: realm_property_key_t) -> *mut realm_set_t;

    /// The dictionary in a dictionary property, or in a Mixed property that holds one.
    pub fn realm_get_dictionary(
        object: *mut realm_object_t,
        property: realm_property_key_t,
    ) -> *mut realm_dictionary_t;

    /// Whether the list can be used: its owner exists, its realm is open, and the place it stands for
    /// still holds a list.
    pub fn realm_list_is_valid(list: *const realm_list_t) -> bool;

    /// Counts the elements.
    pub fn realm_list_size(list: *const realm_list_t, out_size: *mut usize) -> bool;

    /// Describes the property the list lives in. For a list nested in a Mixed property that is the
    /// Mixed property.
    pub fn realm_list_get_property(
        list: *const realm_list_t,
        out_property_info: *mut realm_property_info_t,
    ) -> bool;

    /// Reads an element. A nested collection comes without payload, as in realm_get_value().
    pub fn realm_list_get(list: *const realm_list_t, index: usize, out_value: *mut realm_value_t) -> bool;

    /// Finds the first element equal to a value.
    pub fn realm_list_find(
        list: *const realm_list_t,
        value: *const realm_value_t,
        out_index: *mut usize,
        out_found: *mut bool,
    ) -> bool;

    /// The list at a position of a list of Mixed.
    pub fn realm_list_get_list(list: *mut realm_list_t, index: usize) -> *mut realm_list_t;

    /// The dictionary at a position of a list of Mixed.
    pub fn realm_list_get_dictionary(list: *mut realm_list_t, index: usize) -> *mut realm_dictionary_t;

    /// The object an element links to, or that is embedded there.
    pub fn realm_list_get_linked_object(list: *mut realm_list_t, index: usize) -> *mut realm_object_t;

    /// Replaces an element. RLM_TYPE_LIST and RLM_TYPE_DICTIONARY act like realm_list_set_list() and
    /// realm_list_set_dictionary().
    pub fn realm_list_set(list: *mut realm_list_t, index: usize, value: realm_value_t) -> bool;

    /// Inserts an element; those from index on move up by one.
    pub fn realm_list_insert(list: *mut realm_list_t, index: usize, value: realm_value_t) -> bool;

    /// Inserts an empty list into a list of Mixed.
    pub fn realm_list_insert_list(list: *mut realm_list_t, index: usize) -> *mut realm_list_t;

    /// Inserts an empty dictionary into a list of Mixed.
    pub fn realm_list_insert_dictionary(list: *mut realm_list_t, index: usize) -> *mut realm_dictionary_t;

    /// Makes an element of a list of Mixed a list. If the element is a list already, that is kept with
    /// its elements; any other value is replaced by an empty list.
    pub fn realm_list_set_list(list: *mut realm_list_t, index: usize) -> *mut realm_list_t;

    /// Makes an element of a list of Mixed a dictionary, as realm_list_set_list() does with a list.
    pub fn realm_list_set_dictionary(list: *mut realm_list_t, index: usize) -> *mut realm_dictionary_t;

    /// Moves an element: it is removed, then inserted so that it is at to_index afterwards.
    pub fn realm_list_move(list: *mut realm_list_t, from_index: usize, to_index: usize) -> bool;

    /// Inserts a new embedded object.
    pub fn realm_list_insert_embedded(list: *mut realm_list_t, index: usize) -> *mut realm_object_t;

    /// Deletes an embedded object and puts a new one in its place.
    pub fn realm_list_set_embedded(list: *mut realm_list_t, index: usize) -> *mut realm_object_t;

    /// Removes an element.
    pub fn realm_list_erase(list: *mut realm_list_t, index: usize) -> bool;

    /// Removes all elements. Objects they link to stay, embedded ones are deleted.
    pub fn realm_list_clear(list: *mut realm_list_t) -> bool;

    /// Removes all elements and deletes the objects they link to. On a list of plain values or of Mixed
    /// it does what realm_list_clear() does.
    pub fn realm_list_remove_all(list: *mut realm_list_t) -> bool;

    /// Finds the same list in another realm of the same file.
    pub fn realm_list_resolve_in(
        list: *const realm_list_t,
        target_realm: *const realm_t,
        resolved: *mut *mut realm_list_t,
    ) -> bool;

    /// The elements as live results, in the order of the list. After the list was deleted they are
    /// stale or, if they are objects, empty.
    pub fn realm_list_to_results(list: *mut realm_list_t) -> *mut realm_results_t;

    /// Whether the set can be used: its owner exists and its realm is open.
    pub fn realm_set_is_valid(set: *const realm_set_t) -> bool;

    /// Counts the elements.
    pub fn realm_set_size(set: *const realm_set_t, out_size: *mut usize) -> bool;

    /// Describes the property the set lives in.
    pub fn realm_set_get_property(
        set: *const realm_set_t,
        out_property_info: *mut realm_property_info_t,
    ) -> bool;

    /// Reads an element.
    pub fn realm_set_get(set: *const realm_set_t, index: usize, out_value: *mut realm_value_t) -> bool;

    /// Finds a value. One that the set cannot hold is not found, which is no error.
    pub fn realm_set_find(
        set: *const realm_set_t,
        value: realm_value_t,
        out_index: *mut usize,
        out_found: *mut bool,
    ) -> bool;

    /// Adds a value. A value that is equal to an element changes nothing.
    pub fn realm_set_insert(
        set: *mut realm_set_t,
        value: realm_value_t,
        out_index: *mut usize,
        out_inserted: *mut bool,
    ) -> bool;

    /// Removes a value. To remove one that the set cannot hold is no error.
    pub fn realm_set_erase(set: *mut realm_set_t, value: realm_value_t, out_erased: *mut bool) -> bool;

    /// Removes all elements. Objects they link to stay.
    pub fn realm_set_clear(set: *mut realm_set_t) -> bool;

    /// Removes all elements and deletes the objects they link to. On a set of plain values or of Mixed
    /// it does what realm_set_clear() does.
    pub fn realm_set_remove_all(set: *mut realm_set_t) -> bool;

    /// Finds the same set in another realm of the same file.
    pub fn realm_set_resolve_in(
        set: *const realm_set_t,
        target_realm: *const realm_t,
        resolved: *mut *mut realm_set_t,
    ) -> bool;

    /// The elements as live results, in the order of the set. After the set was deleted they are stale
    /// or, if they are objects, empty.
    pub fn realm_set_to_results(set: *mut realm_set_t) -> *mut realm_results_t;

    /// Whether the dictionary can be used: its owner exists, its realm is open, and the place it stands
    /// for still holds a dictionary.
    pub fn realm_dictionary_is_valid(dictionary: *const realm_dictionary_t) -> bool;

    /// Counts the pairs.
    pub fn realm_dictionary_size(dictionary: *const realm_dictionary_t, out_size: *mut usize) -> bool;

    /// Describes the property the dictionary lives in. For one nested in a Mixed property that is the
    /// Mixed property.
    pub fn realm_dictionary_get_property(
        dictionary: *const realm_dictionary_t,
        out_info: *mut realm_property_info_t,
    ) -> bool;

    /// Reads the value of a key. A nested collection comes without payload, as in realm_get_value().
    pub fn realm_dictionary_find(
        dictionary: *const realm_dictionary_t,
        key: realm_value_t,
        out_value: *mut realm_value_t,
        out_found: *mut bool,
    ) -> bool;

    /// Reads the pair at a position.
    pub fn realm_dictionary_get(
        dictionary: *const realm_dictionary_t,
        index: usize,
        out_key: *mut realm_value_t,
        out_value: *mut realm_value_t,
    ) -> bool;

    /// The list under a key of a dictionary of Mixed.
    pub fn realm_dictionary_get_list(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
    ) -> *mut realm_list_t;

    /// The dictionary under a key of a dictionary of Mixed.
    pub fn realm_dictionary_get_dictionary(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
    ) -> *mut realm_dictionary_t;

    /// The object that a key links to, or that is embedded there.
    pub fn realm_dictionary_get_linked_object(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
    ) -> *mut realm_object_t;

    /// Whether the dictionary has a pair with this key.
    pub fn realm_dictionary_contains_key(
        dictionary: *const realm_dictionary_t,
        key: realm_value_t,
        found: *mut bool,
    ) -> bool;

    /// Finds the first pair with this value.
    pub fn realm_dictionary_contains_value(
        dictionary: *const realm_dictionary_t,
        value: realm_value_t,
        index: *mut usize,
    ) -> bool;

    /// Adds a pair, or replaces the value of an existing key. RLM_TYPE_LIST and RLM_TYPE_DICTIONARY act
    /// like realm_dictionary_insert_list() and realm_dictionary_insert_dictionary().
    pub fn realm_dictionary_insert(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
        value: realm_value_t,
        out_index: *mut usize,
        out_inserted: *mut bool,
    ) -> bool;

    /// Puts a new embedded object under a key and deletes the one that the key had. In a dictionary of
    /// ordinary objects the new object is ordinary, too, and an old target stays.
    pub fn realm_dictionary_insert_embedded(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
    ) -> *mut realm_object_t;

    /// Puts a list under a key of a dictionary of Mixed. If the key already has a list, that is kept
    /// with its elements; any other value is replaced by an empty list.
    pub fn realm_dictionary_insert_list(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
    ) -> *mut realm_list_t;

    /// Puts a dictionary under a key of a dictionary of Mixed, as realm_dictionary_insert_list() does
    /// with a list.
    pub fn realm_dictionary_insert_dictionary(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
    ) -> *mut realm_dictionary_t;

    /// Removes a pair. An absent key, or one that is not a string, is no error.
    pub fn realm_dictionary_erase(
        dictionary: *mut realm_dictionary_t,
        key: realm_value_t,
        out_erased: *mut bool,
    ) -> bool;

    /// The keys as live results, in their order. They become stale when the dictionary no longer
    /// exists.
    pub fn realm_dictionary_get_keys(
        dictionary: *mut realm_dictionary_t,
        out_size: *mut usize,
        out_keys: *mut *mut realm_results_t,
    ) -> bool;

    /// Removes all pairs. Objects they link to stay, embedded ones are deleted.
    pub fn realm_dictionary_clear(dictionary: *mut realm_dictionary_t) -> bool;

    /// Finds the same dictionary in another realm of the same file.
    pub fn realm_dictionary_resolve_in(
        dictionary: *const realm_dictionary_t,
        target_realm: *const realm_t,
        resolved: *mut *mut realm_dictionary_t,
    ) -> bool;

    /// The values as live results, in the order of their keys. After the dictionary was deleted they
    /// are stale or, if they are objects, empty.
    pub fn realm_dictionary_to_results(dictionary: *mut realm_dictionary_t) -> *mut realm_results_t;

    /// Parses a query on the objects of a class.
    pub fn realm_query_parse(
        realm: *const realm_t,
        target_table: realm_class_key_t,
        query_string: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
    ) -> *mut realm_query_t;

    /// The query as text in one normal form: arguments written out, stored names for public ones, the
    /// ordering at the end. Parsed again it finds the same rows, as long as the query was not made for
    /// a list or set.
    pub fn realm_query_get_description(query: *mut realm_query_t) -> *const c_char;

    /// A query for the rows that meet the query's condition and a second one. The ordering of the
    /// second text is applied after that of the first; both are applied after the conditions.
    pub fn realm_query_append_query(
        query: *const realm_query_t,
        query_string: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
    ) -> *mut realm_query_t;

    /// Parses a query on the objects in a list. Unless the text sorts them, the rows are in the order
    /// of the list, and an object appears as often as it is in the list.
    pub fn realm_query_parse_for_list(
        target_list: *const realm_list_t,
        query_string: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
    ) -> *mut realm_query_t;

    /// Parses a query on the objects in a set.
    pub fn realm_query_parse_for_set(
        target_set: *const realm_set_t,
        query_string: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
    ) -> *mut realm_query_t;

    /// Parses a query on the rows of results. The condition of the results is part of it, their
    /// ordering is not: write sort, distinct and limit into the text.
    pub fn realm_query_parse_for_results(
        target_results: *const realm_results_t,
        query_string: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
    ) -> *mut realm_query_t;

    /// Runs the query, including distinct and limit, and counts the rows.
    pub fn realm_query_count(query: *const realm_query_t, out_count: *mut usize) -> bool;

    /// Runs the query, including its ordering, for the first row.
    pub fn realm_query_find_first(
        query: *mut realm_query_t,
        out_value: *mut realm_value_t,
        out_found: *mut bool,
    ) -> bool;

    /// The rows as live results. The query runs when they are read, not now.
    pub fn realm_query_find_all(query: *mut realm_query_t) -> *mut realm_results_t;

    /// Runs the query, including its ordering, and deletes the objects it finds. With a limit, only the
    /// rows within it are deleted.
    pub fn realm_query_delete_all(query: *const realm_query_t) -> bool;

    /// The objects of one class that link to an object through one property.
    pub fn realm_get_backlinks(
        object: *mut realm_object_t,
        source_table_key: realm_class_key_t,
        property_key: realm_property_key_t,
    ) -> *mut realm_results_t;

    /// Whether the results can still be read: false when the realm was closed, the class was removed,
    /// or their collection of values was deleted. Results of objects become empty instead when their
    /// list, set, dictionary or link target was deleted.
    pub fn realm_results_is_valid(results: *const realm_results_t, out_valid: *mut bool) -> bool;

    /// Counts the rows.
    pub fn realm_results_count(results: *mut realm_results_t, out_count: *mut usize) -> bool;

    /// The rows that also meet a query. The ordering of the results stays; that of the query is
    /// ignored. All conditions are applied before the orderings. So after a distinct, when the query
    /// removes the first of several equal rows, another of them appears in its place.
    pub fn realm_results_filter(
        results: *mut realm_results_t,
        query: *mut realm_query_t,
    ) -> *mut realm_results_t;

    /// The rows in another order. Rows that are equal in all of the given paths keep their order: sort
    /// by one property and then by another, and rows that are equal in the second are in the order of
    /// the first.
    ///
    /// Null comes before everything, false before true; texts are compared byte by byte, values of a
    /// Mixed property by type first. A path may lead through links to one object; rows where such a
    /// link is null come last. Descending order is the exact reverse.
    pub fn realm_results_sort(
        results: *mut realm_results_t,
        sort_string: *const c_char,
    ) -> *mut realm_results_t;

    /// Of rows that are equal in all of the given paths, only the first. Two nulls are equal. Rows
    /// where a link on the way to a value is null are left out.
    pub fn realm_results_distinct(
        results: *mut realm_results_t,
        distinct_string: *const c_char,
    ) -> *mut realm_results_t;

    /// The first rows.
    pub fn realm_results_limit(results: *mut realm_results_t, max_count: usize) -> *mut realm_results_t;

    /// Reads a row. An object comes as RLM_TYPE_LINK. A collection in a Mixed comes without payload, as
    /// in realm_get_value().
    pub fn realm_results_get(
        results: *mut realm_results_t,
        index: usize,
        out_value: *mut realm_value_t,
    ) -> bool;

    /// The list in a row of results of Mixed.
    pub fn realm_results_get_list(results: *mut realm_results_t, index: usize) -> *mut realm_list_t;

    /// The dictionary in a row of results of Mixed.
    pub fn realm_results_get_dictionary(
        results: *mut realm_results_t,
        index: usize,
    ) -> *mut realm_dictionary_t;

    /// Finds the first row that is equal to a value; for rows that are objects the value is a link. A
    /// value that cannot be among the rows is not found, which is no error.
    pub fn realm_results_find(
        results: *mut realm_results_t,
        value: *mut realm_value_t,
        out_index: *mut usize,
        out_found: *mut bool,
    ) -> bool;

    /// The object in a row.
    pub fn realm_results_get_object(results: *mut realm_results_t, index: usize) -> *mut realm_object_t;

    /// The query behind the results, with their ordering. For all objects of a class it is
    /// TRUEPREDICATE.
    pub fn realm_results_get_query(results: *mut realm_results_t) -> *mut realm_query_t;

    /// Finds the first row with an object.
    pub fn realm_results_find_object(
        results: *mut realm_results_t,
        value: *mut realm_object_t,
        out_index: *mut usize,
        out_found: *mut bool,
    ) -> bool;

    /// Deletes the objects in the rows, and no others: those beyond a limit stay. For results of
    /// values, or of the elements of a dictionary, it empties the collection they came from; objects
    /// they link to stay.
    pub fn realm_results_delete_all(results: *mut realm_results_t) -> bool;

    /// The rows as they are now. Their number and order never change; an object that is deleted later
    /// reads as null. The values of the objects are still read from the current snapshot. Sorting,
    /// filtering or limiting a snapshot gives live results again.
    pub fn realm_results_snapshot(results: *const realm_results_t) -> *mut realm_results_t;

    /// The same results in another realm of the same file.
    pub fn realm_results_resolve_in(
        from_results: *mut realm_results_t,
        target_realm: *const realm_t,
    ) -> *mut realm_results_t;

    /// The smallest value of a property among the rows. Nulls and NaN are skipped; in a Mixed property
    /// values of all types count, booleans before numbers before texts and so on.
    pub fn realm_results_min(
        results: *mut realm_results_t,
        property: realm_property_key_t,
        out_min: *mut realm_value_t,
        out_found: *mut bool,
    ) -> bool;

    /// The largest value of a property among the rows, as realm_results_min() finds the smallest.
    pub fn realm_results_max(
        results: *mut realm_results_t,
        property: realm_property_key_t,
        out_max: *mut realm_value_t,
        out_found: *mut bool,
    ) -> bool;

    /// The sum of a property over the rows: an integer for integers (an exact decimal if the sum does
    /// not fit into 64 bits), a double for floats and doubles, a decimal for decimals and Mixed. Nulls,
    /// NaN and values of a Mixed property that are no numbers are skipped.
    pub fn realm_results_sum(
        results: *mut realm_results_t,
        property: realm_property_key_t,
        out_sum: *mut realm_value_t,
        out_found: *mut bool,
    ) -> bool;

    /// The mean of a property over the rows: a double, for decimals and Mixed a decimal. Nulls, NaN and
    /// values of a Mixed property that are no numbers are skipped and not counted.
    pub fn realm_results_average(
        results: *mut realm_results_t,
        property: realm_property_key_t,
        out_average: *mut realm_value_t,
        out_found: *mut bool,
    ) -> bool;

    /// Names the properties that a callback watches: public names joined by dots, beginning at the
    /// watched class ("name", "dogs.age"), with '*' for every property of a level. Changes of other
    /// properties are then not reported. Insertions and deletions always are.
    pub fn realm_create_key_path_array(
        realm: *const realm_t,
        object_class_key: realm_class_key_t,
        num_key_paths: usize,
        user_key_paths: *mut *const c_char,
    ) -> *mut realm_key_path_array_t;

    /// Registers a function that is called when the object's own properties change, a last time when it
    /// is deleted, and never after that.
    pub fn realm_object_add_notification_callback(
        object: *mut realm_object_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        key_path_array: *mut realm_key_path_array_t,
        on_change: realm_on_object_change_func_t,
    ) -> *mut realm_notification_token_t;

    /// The same for a list. An element that is an object counts as modified when the object changed, or
    /// one that it reaches over at most three links.
    pub fn realm_list_add_notification_callback(
        list: *mut realm_list_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        key_path_array: *mut realm_key_path_array_t,
        on_change: realm_on_collection_change_func_t,
    ) -> *mut realm_notification_token_t;

    /// The same for a set; indices are positions in its order.
    pub fn realm_set_add_notification_callback(
        set: *mut realm_set_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        key_path_array: *mut realm_key_path_array_t,
        on_change: realm_on_collection_change_func_t,
    ) -> *mut realm_notification_token_t;

    /// The same for a dictionary; changes are reported by key.
    pub fn realm_dictionary_add_notification_callback(
        dictionary: *mut realm_dictionary_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        key_path_array: *mut realm_key_path_array_t,
        on_change: realm_on_dictionary_change_func_t,
    ) -> *mut realm_notification_token_t;

    /// The same for the rows of results. A row that moved is reported as deleted and inserted.
    pub fn realm_results_add_notification_callback(
        results: *mut realm_results_t,
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        key_path_array: *mut realm_key_path_array_t,
        callback: realm_on_collection_change_func_t,
    ) -> *mut realm_notification_token_t;

    /// Whether the object was deleted.
    pub fn realm_object_changes_is_deleted(changes: *const realm_object_changes_t) -> bool;

    /// How many properties changed.
    pub fn realm_object_changes_get_num_modified_properties(changes: *const realm_object_changes_t) -> usize;

    /// Copies up to max keys of changed properties. For a key path it is the key of the path's first
    /// property.
    pub fn realm_object_changes_get_modified_properties(
        changes: *const realm_object_changes_t,
        out_modified: *mut realm_property_key_t,
        max: usize,
    ) -> usize;

    /// The sizes that the arrays of realm_collection_changes_get_changes() need. Each pointer is
    /// \[optional].
    pub fn realm_collection_changes_get_num_changes(
        changes: *const realm_collection_changes_t,
        out_num_deletions: *mut usize,
        out_num_insertions: *mut usize,
        out_num_modifications: *mut usize,
        out_num_moves: *mut usize,
        out_collection_was_cleared: *mut bool,
        out_collection_was_deleted: *mut bool,
    );

    /// The same for realm_collection_changes_get_ranges().
    pub fn realm_collection_changes_get_num_ranges(
        changes: *const realm_collection_changes_t,
        out_num_deletion_ranges: *mut usize,
        out_num_insertion_ranges: *mut usize,
        out_num_modification_ranges: *mut usize,
        out_num_moves: *mut usize,
    );

    /// Copies the changed indices, ascending, up to each array's maximum; each array is \[optional].
    /// Deletions and modifications index the collection before the changes, insertions and
    /// modifications_after the one after them. To update a list on the screen, remove the deletions
    /// from the back, insert the insertions from the front, and redraw modifications_after. Of a move,
    /// `from` is one of the deletions, `to` one of the insertions.
    pub fn realm_collection_changes_get_changes(
        changes: *const realm_collection_changes_t,
        out_deletion_indices: *mut usize,
        max_deletion_indices: usize,
        out_insertion_indices: *mut usize,
        max_insertion_indices: usize,
        out_modification_indices: *mut usize,
        max_modification_indices: usize,
        out_modification_indices_after: *mut usize,
        max_modification_indices_after: usize,
        out_moves: *mut realm_collection_move_t,
        max_moves: usize,
    );

    /// The same as half-open ranges.
    pub fn realm_collection_changes_get_ranges(
        changes: *const realm_collection_changes_t,
        out_deletion_ranges: *mut realm_index_range_t,
        max_deletion_ranges: usize,
        out_insertion_ranges: *mut realm_index_range_t,
        max_insertion_ranges: usize,
        out_modification_ranges: *mut realm_index_range_t,
        max_modification_ranges: usize,
        out_modification_ranges_after: *mut realm_index_range_t,
        max_modification_ranges_after: usize,
        out_moves: *mut realm_collection_move_t,
        max_moves: usize,
    );

    /// How many keys were deleted, inserted and modified. Each pointer is \[optional].
    pub fn realm_dictionary_get_changes(
        changes: *const realm_dictionary_changes_t,
        out_deletions_size: *mut usize,
        out_insertion_size: *mut usize,
        out_modification_size: *mut usize,
        out_was_deleted: *mut bool,
    );

    /// Copies the changed keys, as string values that live as long as the change set.
    pub fn realm_dictionary_get_changed_keys(
        changes: *const realm_dictionary_changes_t,
        deletions: *mut realm_value_t,
        deletions_size: *mut usize,
        insertions: *mut realm_value_t,
        insertions_size: *mut usize,
        modifications: *mut realm_value_t,
        modification_size: *mut usize,
        collection_was_cleared: *mut bool,
    );

    /// The version of the loaded library's additions: the CREALM_ABI_VERSION of the header that the library was
    /// built with.
    pub fn crealm_abi_version() -> u32;

    /// Sets how a new encrypted file is sealed. After this call, opens and copies with this config
    /// require a key or passphrase, so that a forgotten key does not lead to a plain file.
    pub fn crealm_config_set_page_cipher(config: *mut realm_config_t, cipher: crealm_page_cipher_e);

    /// Reads how a new encrypted file would be sealed.
    pub fn crealm_config_get_page_cipher(config: *const realm_config_t) -> crealm_page_cipher_e;

    /// Sets how much memory the library may use to keep decrypted pages that no snapshot in use has read. The
    /// config with which the process first opens a file determines the limit for that file.
    pub fn crealm_config_set_page_memory(config: *mut realm_config_t, bytes: u64);

    /// Sets a passphrase, in place of any key; the key is derived from it with Argon2id.
    pub fn crealm_config_set_passphrase(
        config: *mut realm_config_t,
        passphrase: *const c_char,
        passphrase_size: usize,
        passes: u32,
        memory: u64,
    ) -> bool;

    /// Changes the key or passphrase of a realm's file, encrypts a plain file, or decrypts one.
    ///
    /// When a file in CRealm's form gets another key or passphrase, only a block at its beginning
    /// changes; the cipher stays. A person who knows the old key and kept an old copy of that block can still
    /// read the file: realm_convert_with_config() makes a copy in which all keys are new. All other changes
    /// rewrite the file, as realm_compact() does. The realm stays open and its handles stay valid, but its views
    /// do not; an open read transaction ends.
    pub fn crealm_change_key(realm: *mut realm_t, config: *const realm_config_t) -> bool;

    /// Chooses whether the library handles SIGBUS and SIGSEGV.
    ///
    /// A plain file is mapped into memory. When another program shortens the file while it is open, or
    /// the disk cannot read a block, reading the missing pages raises SIGBUS. The guard, on by default on
    /// Linux, is a signal handler that is installed when a realm is first opened. It replaces the missing pages
    /// by zeros. The call, and every later call on a realm of that file, then fails with FILE_OPERATION_FAILED,
    /// and the zeros are never committed; a view of a string or binary that the program still holds may become
    /// zeros. Once all realms of the file are closed, and the file is intact again, it can be opened again. All
    /// other faults are passed to the handlers that were installed before, with their flags and on the stacks
    /// they asked for. A program that installs handlers later must pass on the faults that it does not handle.
    /// Without the guard such a fault ends the program; encrypted files are not mapped, but the small lock file
    /// beside every file is.
    pub fn crealm_set_fault_guard(enabled: bool) -> bool;

    /// Sets how long realms opened with this config wait for other users of the file: for those that open,
    /// compact or convert it, and, at the beginning of a write transaction, for other writers. When the time is
    /// over the call fails with CREALM_ERR_TIMED_OUT. The limit does not apply to waiting for another thread of
    /// this process that is opening the same file. A file of formats 2 to 9 can be upgraded only while no other
    /// process has it open: without a limit, opening it for writing waits about a second for the others and then
    /// fails with INCOMPATIBLE_SESSION.
    pub fn crealm_config_set_lock_timeout(config: *mut realm_config_t, milliseconds: i64);

    /// Sets how long realm_begin_write() on one realm waits for other writers.
    pub fn crealm_set_lock_timeout(realm: *mut realm_t, milliseconds: i64) -> bool;

    /// Sets the progress function of realms opened with this config. Long calls run it about every 50 ms: checks
    /// and copies for the first time when they begin, other calls after 50 ms.
    ///
    /// The function cannot use the realm whose call runs it: such calls fail with ILLEGAL_OPERATION. Nor can it
    /// open, compact or delete any realm file. It may use other open realms, and it may close this one: the long
    /// call then fails with CREALM_ERR_INTERRUPTED, and the realm is closed. It must not release the handles that
    /// the long call uses. Calls on frozen realms run no progress function.
    pub fn crealm_config_set_progress(
        config: *mut realm_config_t,
        function: crealm_progress_func_t,
        userdata: *mut c_void,
        free: realm_free_userdata_func_t,
    );

    /// Interrupts the call that is running on the realm's thread: a query, aggregate, check, copy or compaction
    /// fails with CREALM_ERR_INTERRUPTED at its next check for interrupts. So does waiting for the write lock if
    /// the realm has a timeout or a progress function. Changes of objects and commits are not interrupted. Calls
    /// that begin later are not affected; when no call is running nothing happens.
    ///
    /// Do not call it in a signal handler: it reads the handle, which the interrupted code may be
    /// changing. Set a flag there that the progress function reads.
    pub fn crealm_interrupt(realm: *const realm_t) -> bool;

    /// Sets how commits reach the disk. Instances in one process that have the same file open all use the safest
    /// of their choices, FULL or TWO_FLUSHES; UNSAFE works only if all that have the file open at the same time
    /// choose it.
    pub fn crealm_config_set_durability(config: *mut realm_config_t, durability: crealm_durability_e);

    /// Reads how commits would reach the disk.
    pub fn crealm_config_get_durability(config: *const realm_config_t) -> crealm_durability_e;

    /// Sets when the commits of a realm make its file shorter.
    ///
    /// When the file has at least least_size bytes, and more than free_percent percent of it is free space, commits
    /// move some data from the end of the file to free space further in, and cut the end off as soon as no version
    /// that is in use reaches there. After some commits that gained nothing, the next ones move nothing for a while. Readers and other writers go on meanwhile. Without this call:
    /// 1048576 and 50.
    pub fn crealm_config_set_shrinking(config: *mut realm_config_t, least_size: usize, free_percent: c_int);

    /// Reads when commits would make the file shorter.
    pub fn crealm_config_get_shrinking(
        config: *const realm_config_t,
        least_size: *mut usize,
        free_percent: *mut c_int,
    );

    /// Makes the file of a realm shorter while it stays in use.
    ///
    /// Unlike realm_compact(), it needs no second file, and other instances and processes may have the file open,
    /// read it and write it. The call makes commits without changes; each moves up to 8 MB of data. A version that
    /// somebody keeps (a frozen realm, a long read transaction) limits what can be gained: call again when it was
    /// released. The realm's read transaction moves to the newest version. The progress function is asked after each
    /// commit, and crealm_interrupt() ends the call: the file is sound then, and as short as it has become.
    pub fn crealm_compact_online(realm: *mut realm_t, out_before: *mut usize, out_after: *mut usize) -> bool;

    /// Writes a backup step: a small file with what the realm's version has, and an earlier step does not have.
    ///
    /// A chain of steps, the first one with everything, is a backup of each of their versions: crealm_restore() makes
    /// realm files from it. A step is a realm file itself, with the key or passphrase of the realm. It contains the
    /// blocks of 4 KB that changed, and 16 bytes for each block of the file. The call reads the whole file; writers go
    /// on meanwhile. The step gets its name when it is complete and on the disk. crealm_interrupt() ends the call.
    pub fn crealm_backup_since(
        realm: *mut realm_t,
        previous: *const c_char,
        path: *const c_char,
        out_size: *mut u64,
    ) -> bool;

    /// Makes a realm file from backup steps: the version of the last one.
    ///
    /// Each block is compared with the digest in its step. The file gets its name when it is complete and on the disk.
    pub fn crealm_restore(
        config: *const realm_config_t,
        steps: *const *const c_char,
        num_steps: usize,
    ) -> bool;

    /// Declares the rules of classes as part of the schema of a config: opening gives the file these rules when
    /// the schema mode changes the schema; additive modes only add rules. Classes that rules does not name keep
    /// theirs.
    pub fn crealm_config_set_rules(config: *mut realm_config_t, rules: *const c_char) -> bool;

    /// Sets what happens when another library, which knows no rules, wrote objects that break a rule. The next
    /// write transaction finds them. Without this call the log names them with level WARNING, and the transaction
    /// begins; the objects stay as they are. With true, beginning a write transaction fails with
    /// CREALM_ERR_RULE_BROKEN.
    pub fn crealm_config_set_refuse_broken_rules(config: *mut realm_config_t, refuse: bool);

    /// Replaces the rules of a class, inside a write transaction. New rules are checked against all objects.
    pub fn crealm_class_set_rules(
        realm: *mut realm_t,
        class_key: realm_class_key_t,
        rules: *const c_char,
    ) -> bool;

    /// The rules of a class as JSON; free with realm_free(). A class without rules has empty ones.
    pub fn crealm_class_get_rules(realm: *const realm_t, class_key: realm_class_key_t) -> *mut c_char;

    /// Finds the objects that break a rule: another library wrote them. Reads all objects of classes with rules.
    pub fn crealm_get_broken_rules(
        realm: *const realm_t,
        max: usize,
        out: *mut *mut crealm_broken_rules_t,
    ) -> bool;

    /// Finds the object with these values of a unique rule, also among the changes of an open write transaction.
    pub fn crealm_object_find_by_unique(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        properties: *const *const c_char,
        values: *const realm_value_t,
        num_values: usize,
        out_found: *mut bool,
    ) -> *mut realm_object_t;

    /// Sets a property if the object still has a certain revision: nobody changed it since the program read it.
    /// The class has a property with the rule "revision", which the library raises at each commit that changes the
    /// object.
    pub fn crealm_object_set_if_version(
        object: *mut realm_object_t,
        property: realm_property_key_t,
        value: realm_value_t,
        version: i64,
        out_done: *mut bool,
    ) -> bool;

    /// Reads a computed property of an object: a property that the rules of the class define by an expression.
    pub fn crealm_object_get_computed(
        object: *const realm_object_t,
        name: *const c_char,
        out_value: *mut realm_value_t,
    ) -> bool;

    /// Begins a part of a write transaction that can be rolled back alone. Savepoints nest. Committing or rolling
    /// back the transaction ends all of them. Observers are told of one commit.
    pub fn crealm_begin_savepoint(realm: *mut realm_t, out_savepoint: *mut u32) -> bool;

    /// Ends a savepoint and those that began after it; its changes become part of the transaction around it.
    pub fn crealm_release_savepoint(realm: *mut realm_t, savepoint: u32) -> bool;

    /// Undoes all changes since a savepoint began, and ends it and those that began after it. Objects that were
    /// created since are invalid from now on. A transaction in which a change failed halfway goes on, if the
    /// change was made after the savepoint.
    pub fn crealm_rollback_savepoint(realm: *mut realm_t, savepoint: u32) -> bool;

    /// Makes opens with the config ("snapshot opens") read one version of a file: the newest one at some moment
    /// during the open. Other programs, with this library or realm-core, may have the file open and write it
    /// meanwhile. The open copies the file, into memory or (beyond 64 MB) into an unnamed file in the folder for
    /// temporary files. It writes, locks or creates nothing in the file's folder, waits for no other process, and
    /// no other process waits for it. The copy is never a mixture of versions: docs/commit-and-locking.md,
    /// "Snapshot open", says why. The realm then behaves like one with RLM_SCHEMA_MODE_IMMUTABLE: it stays at its
    /// version. It is independent of other instances of the file, and is not cached.
    pub fn crealm_config_set_snapshot(config: *mut realm_config_t, snapshot: bool);

    /// The flag set above.
    pub fn crealm_config_get_snapshot(config: *const realm_config_t) -> bool;

    /// Commits as realm_commit() does. The callbacks of the given tokens do not get the changes of this commit;
    /// they still get those of all commits before and after it.
    pub fn crealm_commit_without_notifying(
        realm: *mut realm_t,
        tokens: *const *mut realm_notification_token_t,
        count: usize,
    ) -> bool;

    /// The versions before and after the changes of a change set, as realm_get_version_id() gives them.
    /// A program that wants to recognise its own commit compares the second with the version of that
    /// commit. Each pointer is \[optional].
    pub fn crealm_object_changes_get_versions(
        changes: *const realm_object_changes_t,
        out_before: *mut u64,
        out_after: *mut u64,
    ) -> bool;

    /// The same for collections.
    pub fn crealm_collection_changes_get_versions(
        changes: *const realm_collection_changes_t,
        out_before: *mut u64,
        out_after: *mut u64,
    ) -> bool;

    /// The same for dictionaries.
    pub fn crealm_dictionary_changes_get_versions(
        changes: *const realm_dictionary_changes_t,
        out_before: *mut u64,
        out_after: *mut u64,
    ) -> bool;

    /// Reads all changes in one call.
    pub fn crealm_collection_changes_get_all(
        changes: *const realm_collection_changes_t,
        out_changes: *mut *mut crealm_collection_changes_t,
    ) -> bool;

    /// Makes a scheduler for programs whose work moves between threads: goroutines, virtual threads, coroutines,
    /// thread pools. Every thread may use a realm of this scheduler, one at a time: a call fails with WRONG_THREAD
    /// while another thread is inside a call on a realm of the same scheduler; it does not wait. One thread may
    /// begin a transaction and another may commit it. Work waits until the program calls crealm_scheduler_run() on
    /// a thread of its choice. Views (rule 2) live as long as before, so a program that reads them on one thread
    /// keeps other threads from changing the realm meanwhile.
    ///
    /// A realm of this scheduler is not handed over by thread-safe references: NOT_SUPPORTED.
    pub fn crealm_scheduler_new_serial(
        userdata: *mut c_void,
        userdata_free: realm_free_userdata_func_t,
        notify: crealm_work_waits_func_t,
    ) -> *mut realm_scheduler_t;

    /// The file descriptor of a default or serial scheduler, for select(), poll() and their relatives. It is readable
    /// while work is queued. The program may watch it but must not read, write or close it; it stays open until the
    /// last reference to the scheduler is released, including those of open realms. All handles to the default
    /// scheduler of one thread give the same descriptor.
    pub fn crealm_scheduler_get_fd(scheduler: *const realm_scheduler_t, out_fd: *mut c_int) -> bool;

    /// Runs the work that is queued for a default scheduler's thread, or for a serial scheduler. When the queue is
    /// empty it waits for work, at most for the given time. Callbacks of the program run inside this call.
    pub fn crealm_scheduler_run(
        scheduler: *const realm_scheduler_t,
        timeout_ms: c_int,
        out_did_work: *mut bool,
    ) -> bool;

    /// Lists the pinned versions of the realm's file, in all processes: one entry for each pin, those of
    /// the oldest versions first. From the 65th entry of a process on, one entry stands for all pins of a
    /// version in that process. The call works also when no further version can be pinned. The pin of this realm
    /// is in the list while the realm reads a version. For the realm of a snapshot open the list has the pins
    /// of all processes that have the file open with this library, with the bytes that they hold in the version
    /// of the snapshot; for an immutable realm it is empty.
    pub fn crealm_versions(
        realm: *const realm_t,
        out_versions: *mut crealm_pinned_version_t,
        max: usize,
        out_n: *mut usize,
    ) -> bool;

    /// Sets the file size above which a commit logs a warning about the oldest pin (level warning, category
    /// Realm.Storage.Transaction). The warning is logged when the commit makes the file grow because of that pin,
    /// and the file is then larger than this size and larger than twice its data. Each pin is named once. The
    /// setting holds for all realms of the process.
    pub fn crealm_set_pin_warning(bytes: u64);

    /// Makes a stream of the values of results, column by column: arrays of structs, with one struct per row,
    /// whose fields are the columns. docs/columns.md has the table of types.
    ///
    /// The rows and values are those of the version that the realm reads at the time of the call. The stream pins
    /// that version: it may be read on any thread, one thread at a time, while the realm writes or moves on, and
    /// after the realm was closed. The arrays that the stream returns are copies in separate memory. The version
    /// stays in the file until the stream is released or read to its end.
    ///
    /// The stream's functions return 0, or one of these error numbers with a text in get_last_error(): EOVERFLOW
    /// for a timestamp that does not fit into 64 bits of nanoseconds, and a value too large for an array; EILSEQ
    /// for a text that is not UTF-8; EIO for a damaged or lost file, and in a forked child; ENOMEM; EINVAL for
    /// NULL. The text names column and object. After a failure all further calls on the stream fail, too.
    pub fn crealm_results_export_arrow(
        results: *const realm_results_t,
        paths: *const *const c_char,
        num_paths: usize,
        batch_rows: usize,
        out: *mut ArrowArrayStream,
    ) -> bool;

    /// The same for all objects of a class.
    pub fn crealm_class_export_arrow(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        paths: *const *const c_char,
        num_paths: usize,
        batch_rows: usize,
        out: *mut ArrowArrayStream,
    ) -> bool;

    /// Groups the objects of results and computes aggregates of their values: a stream with one struct per group,
    /// whose fields are the keys and the aggregates. docs/query-language.md has the grammar and the functions.
    ///
    /// The groups are computed in the call, on the version that the realm sees, also inside a write transaction. They
    /// are in the order of their first objects unless a SORT says otherwise. The stream depends on nothing: it may be
    /// read on any thread, one at a time, after the realm was closed. Links are the primary keys of their objects,
    /// or object keys. A column of sums has the type of decimals if a sum does not fit into 64 bits.
    pub fn crealm_results_aggregate_arrow(
        results: *const realm_results_t,
        query: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
        out: *mut ArrowArrayStream,
    ) -> bool;

    /// The same for the objects that a query finds.
    pub fn crealm_query_aggregate_arrow(
        query: *const realm_query_t,
        clauses: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
        out: *mut ArrowArrayStream,
    ) -> bool;

    /// Sets properties of all objects of results by expressions, as UPDATE in SQL: "n = n + 1, city = $0".
    /// docs/query-language.md has the grammar.
    ///
    /// All expressions see the values from before the call, also those of other objects. An object that is several rows
    /// is set once. Numbers become those of the type of the property: exactly for integers, the nearest ones for other
    /// types. When the call fails, nothing was changed. Rules are kept as by one call.
    pub fn crealm_results_update(
        results: *mut realm_results_t,
        assignments: *const c_char,
        num_args: usize,
        args: *const realm_query_arg_t,
        out_count: *mut usize,
    ) -> bool;

    /// Reads some rows of results in one call, column by column, as the realm sees them now, also inside a write
    /// transaction. The array has the form of those of crealm_results_export_arrow().
    pub fn crealm_results_fetch_arrow(
        results: *const realm_results_t,
        first: usize,
        count: usize,
        paths: *const *const c_char,
        num_paths: usize,
        out_schema: *mut ArrowSchema,
        out_array: *mut ArrowArray,
    ) -> bool;

    /// Reads some properties of some rows of results in one call, each as realm_get_value() does.
    pub fn crealm_results_fetch(
        results: *mut realm_results_t,
        first: usize,
        count: usize,
        properties: *const realm_property_key_t,
        num_properties: usize,
        out_values: *mut realm_value_t,
        out_objects: *mut realm_link_t,
        out_count: *mut usize,
    ) -> bool;

    /// Makes objects from columns: one object for each row of a structure array, whose fields are the
    /// properties, by their public or stored names. All rows are checked before the first is written; a batch
    /// that is refused leaves the transaction unchanged. The effect is the same as that of single calls in the
    /// order of the rows. docs/batches.md lists the Arrow types that each type of property takes. A column of
    /// plain values is an array over their buffer:
    ///
    ///     static void keep_schema(struct ArrowSchema* s) { (void)s; }
    ///     static void keep_array(struct ArrowArray* a) { (void)a; }
    ///
    ///     // int64_t ids\[1000]; NULL: no validity bitmap, so no value is null
    ///     const void *buffers\[] = {NULL, ids}, *none\[] = {NULL};
    ///     struct ArrowSchema field = {.format = "l", .name = "id", .release = keep_schema};
    ///     struct ArrowArray column = {
    ///         .length = 1000, .n_buffers = 2, .buffers = buffers, .release = keep_array};
    ///     struct ArrowSchema *fields\[] = {&field}, schema = {
    ///         .format = "+s", .n_children = 1, .children = fields, .release = keep_schema};
    ///     struct ArrowArray *columns\[] = {&column}, rows = {
    ///         .length = 1000, .n_buffers = 1, .n_children = 1, .buffers = none,
    ///         .children = columns, .release = keep_array};
    ///     crealm_create_batch(realm, person, &schema, &rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL);
    ///
    /// Properties without a column get their defaults in new objects and keep their values in existing ones.
    /// Links are given by the primary key of their target, which may be in the same batch, or, if the field's
    /// metadata has "realm.link" (as exported arrays do), by the object key of the target.
    pub fn crealm_create_batch(
        realm: *mut realm_t,
        class_key: realm_class_key_t,
        schema: *const ArrowSchema,
        rows: *const ArrowArray,
        mode: crealm_update_mode_e,
        out_keys: *mut realm_object_key_t,
        out_created: *mut usize,
        out_fault: *mut crealm_batch_fault_t,
    ) -> bool;

    /// Finds the object with a primary key.
    pub fn crealm_find(
        realm: *const realm_t,
        class_key: realm_class_key_t,
        primary_key: *const realm_value_t,
        out_object: *mut realm_link_t,
        out_found: *mut bool,
    ) -> bool;

    /// Finds or creates an object, and writes values to its properties. All values are checked before the first is
    /// written; a call that fails has changed nothing.
    pub fn crealm_create(
        realm: *mut realm_t,
        class_key: realm_class_key_t,
        primary_key: *const realm_value_t,
        mode: crealm_update_mode_e,
        count: usize,
        properties: *const realm_property_key_t,
        values: *const realm_value_t,
        out_object: *mut realm_link_t,
        out_created: *mut bool,
    ) -> bool;

    /// Reads properties of an object, each as realm_get_value() does.
    pub fn crealm_get_values(
        realm: *const realm_t,
        object: *const realm_link_t,
        count: usize,
        properties: *const realm_property_key_t,
        out_values: *mut realm_value_t,
    ) -> bool;

    /// Writes properties of an object, as realm_set_values() does: all values are checked before the first is written.
    pub fn crealm_set_values(
        realm: *mut realm_t,
        object: *const realm_link_t,
        count: usize,
        properties: *const realm_property_key_t,
        values: *const realm_value_t,
    ) -> bool;

    /// Deletes an object, as realm_object_delete() does.
    pub fn crealm_delete(realm: *mut realm_t, object: *const realm_link_t) -> bool;

    /// The number of bytes.
    pub fn crealm_blob_get_size(list: *const realm_list_t, out_size: *mut u64) -> bool;

    /// Copies bytes of a blob.
    pub fn crealm_blob_read(
        list: *const realm_list_t,
        offset: u64,
        out: *mut c_void,
        size: usize,
        out_read: *mut usize,
    ) -> bool;

    /// Writes bytes into a blob and behind its end. A gap between its end and the offset is filled with zeros. A call that
    /// fails has changed nothing.
    pub fn crealm_blob_write(list: *mut realm_list_t, offset: u64, data: *const c_void, size: usize) -> bool;

    /// Cuts a blob, or fills it with zeros up to a new end. A call that fails has changed nothing.
    pub fn crealm_blob_resize(list: *mut realm_list_t, size: u64) -> bool;

    /// Reads a schema from JSON. realm_schema_validate() and realm_open() check it.
    pub fn crealm_schema_from_json(json: *const c_char, size: usize) -> *mut realm_schema_t;

    /// Writes a schema as JSON, with an object for each property.
    pub fn crealm_schema_to_json(schema: *const realm_schema_t) -> *mut c_char;

    /// Reads and clears the last error of the calling thread.
    pub fn crealm_last_error_take(
        out_error: *mut realm_errno_e,
        out_message: *mut c_char,
        capacity: usize,
        out_size: *mut usize,
        out_user_code: *mut *mut c_void,
    ) -> bool;

    /// Checks every invariant of the snapshot that a realm reads: that each byte of the file is either used
    /// exactly once or free; that trees are in order and counts agree; that links and backlinks, values and
    /// indexes match. Begins a read transaction when none is open. Reads the whole file: the time grows with its
    /// size.
    pub fn crealm_verify(realm: *const realm_t, out_report: *mut *mut c_char) -> bool;

    /// Checks what crealm_verify() checks, and lists the faults. A fault does not end the check: a damaged node
    /// is skipped with everything below it, and faults that are only consequences of that are not listed. Begins
    /// a read transaction when none is open.
    pub fn crealm_find_faults(
        realm: *const realm_t,
        max: usize,
        out_faults: *mut *mut crealm_fault_t,
        out_count: *mut usize,
        out_total: *mut usize,
    ) -> bool;

    /// Reports what the bytes of the snapshot that a realm reads are used for. The parts add up to the size of
    /// the (decrypted) file. Reads the whole file: the time grows with its size. Begins a read transaction when
    /// none is open.
    pub fn crealm_get_space(
        realm: *const realm_t,
        out_parts: *mut *mut crealm_space_t,
        out_count: *mut usize,
        out_total: *mut u64,
    ) -> bool;

    /// Tells what the last commit of this realm wrote.
    pub fn crealm_get_commit_work(realm: *const realm_t, out_work: *mut crealm_commit_work_t) -> bool;

    /// Makes a new file with everything that can still be read from a damaged file. docs/salvage.md describes the
    /// attempts and their order, what is proven, and the report. The damaged file is only read; no program may
    /// write to it meanwhile. From a sound file all objects are copied, with the same object keys.
    pub fn crealm_salvage(
        source: *const realm_config_t,
        target: *const realm_config_t,
        out_report: *mut *mut c_char,
    ) -> bool;

    /// Finds deleted objects, and former values of objects, that are still in the free space of a file. The file
    /// is only read; no program may write to it meanwhile. Only findings that the version before the newest
    /// confirms are proven: docs/salvage.md.
    pub fn crealm_recover_deleted(config: *const realm_config_t, out_json: *mut *mut c_char) -> bool;

    /// Reports how a query finds its rows. The call runs the query to find that out.
    pub fn crealm_query_explain(query: *const realm_query_t, out_plan: *mut crealm_query_plan_t) -> bool;

    /// Describes a file by its first bytes and, with its key, by its header and the top arrays of both slots.
    /// Nothing else is read. It is no error when the file is no Realm file, is damaged, or is encrypted with
    /// another key: out_info then says so. A key that is not needed is ignored.
    pub fn crealm_file_info(config: *const realm_config_t, out_info: *mut *mut crealm_file_info_t) -> bool;

    /// Checks everything about a file: whether it is a Realm file, the header, and every invariant
    /// (crealm_verify()) of the newest version and of the one that the other slot of the header leads to. A fault
    /// does not end the check. It is no error when the file cannot be opened at all, or has a format that this
    /// library does not know: the result then has a fault that says so. Reads all of the file: the time grows
    /// with its size. The memory needed is about a twentieth of that size for maps of the file, 8 bytes for each
    /// object, and about 100 bytes for each link until its backlink is found; for an encrypted file also its
    /// pages.
    pub fn crealm_check(
        config: *const realm_config_t,
        max: usize,
        out_check: *mut *mut crealm_check_t,
    ) -> bool;

    /// Makes opens with the config read the version before the newest one. The open checks that
    /// version first, which takes as long as crealm_verify(): it is refused if later commits, also one
    /// that a crash cut short, have overwritten parts of it. Nothing is written, locked or created. The realm
    /// behaves like one with RLM_SCHEMA_MODE_IMMUTABLE: it never moves, shares nothing with other instances of
    /// the file, and is not cached. With crealm_config_set_snapshot() it reads a private copy, for files that
    /// other programs may be writing; without, no program may write the file while it is open. The newest version
    /// may be damaged.
    pub fn crealm_config_set_version_slot(config: *mut realm_config_t, slot: crealm_version_slot_e);

    /// The choice set above.
    pub fn crealm_config_get_version_slot(config: *const realm_config_t) -> crealm_version_slot_e;

    /// Reports where in the file a value is stored, in the version that the realm reads. A file of formats 2 to 9
    /// is not upgraded for that. The ciphertext of Realm's form consists of blocks of 16 bytes, each of which
    /// depends on the blocks before it in its page.
    pub fn crealm_value_location(
        object: *const realm_object_t,
        property: realm_property_key_t,
        index: usize,
        out_location: *mut *mut crealm_value_location_t,
    ) -> bool;

    /// Begins to mark the changes of a file, in the commits that make them. All objects that the file has count as
    /// changes that the hub may not know. A file that is synchronised already gets further classes. The file stays
    /// synchronised until crealm_sync_disable(), in all programs that write it with this library. What realm-core writes
    /// is found and compared with the hub.
    pub fn crealm_sync_enable(realm: *mut realm_t, options: *const c_char) -> bool;

    /// Ends synchronisation: removes the marks, also of changes that were not sent, and all that the file knows of
    /// its hub. The objects stay.
    pub fn crealm_sync_disable(realm: *mut realm_t) -> bool;

    /// Chooses the objects of a synchronised class that this file has. The next exchange compares the class with the
    /// hub: objects outside of the subset leave the file, unless they have unsent changes, and others come.
    pub fn crealm_sync_set_subset(
        realm: *mut realm_t,
        class_name: *const c_char,
        condition: *const c_char,
    ) -> bool;

    /// The state of synchronisation as JSON; free with realm_free(). {"enabled": false} for a file that is not
    /// synchronised; otherwise the members device, hub, cursor, batch, clock, inflight (bytes of the batch that the
    /// hub has not acknowledged), pending (objects with unsent changes), classes and refused.
    pub fn crealm_sync_status(realm: *mut realm_t) -> *mut c_char;

    /// The next request of an exchange with the hub. A request with changes is stored in the file before it is
    /// returned; it is repeated byte for byte until the hub has acknowledged it.
    pub fn crealm_sync_next_request(
        realm: *mut realm_t,
        out_request: *mut *mut crealm_sync_request_t,
    ) -> bool;

    /// Applies the reply to the last request in one write transaction. Observers are notified as of any commit.
    pub fn crealm_sync_apply_reply(
        realm: *mut realm_t,
        reply: *const c_char,
        size: usize,
        out_events: *mut *mut c_char,
    ) -> bool;

    /// Forgets a request whose reply does not come, for instance because the connection was lost. The next request
    /// begins a new exchange.
    pub fn crealm_sync_reset(realm: *mut realm_t) -> bool;

    /// Lets the next exchange compare all objects with the hub.
    pub fn crealm_sync_compare(realm: *mut realm_t) -> bool;

    /// Removes the list of changes that the hub refused.
    pub fn crealm_sync_forget_refused(realm: *mut realm_t) -> bool;
}
