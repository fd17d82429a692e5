# find_package(CRealm) gives the target CRealm::CRealm: the shared library and its headers, wherever the whole was installed or moved to.
if(TARGET CRealm::CRealm)
    return()
endif()
get_filename_component(_crealm_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(CRealm::CRealm SHARED IMPORTED)
set_target_properties(CRealm::CRealm PROPERTIES
    IMPORTED_LOCATION "${_crealm_prefix}/lib/libCRealm.so.0"
    IMPORTED_SONAME "libCRealm.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_crealm_prefix}/include")
unset(_crealm_prefix)
