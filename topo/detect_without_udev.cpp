// SPDX-License-Identifier: BSD-3-Clause
// The functions of libudev that a static hwloc calls. There is no static libudev, and hwloc asks it only for the
// properties of disks, which detect.cpp does not want. As on a system without udev, there is no connection to it.
extern "C" {

struct udev;
struct udev_device;

udev* udev_new() { return nullptr; }
udev* udev_unref(udev*) { return nullptr; }
udev_device* udev_device_new_from_subsystem_sysname(udev*, const char*, const char*) { return nullptr; }
udev_device* udev_device_unref(udev_device*) { return nullptr; }
const char* udev_device_get_property_value(udev_device*, const char*) { return nullptr; }

}   // extern "C"
